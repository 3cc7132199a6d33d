"""``scaar eval --target`` and ``scaar db`` without a running service."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from scaar.cli.eval import service
from scaar.testing.commands import run_scaar

NOBODY = "dns:///127.0.0.1:1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "folder"), "--out: or --target must be given, but not both"),
        (("--theta", "high"), "must be a number, not 'high'"),
        (("--tenant", "é"), "tenant: must be printable ASCII"),
        (("--aliases", "a.jsonl"), "--aliases: needs the file of the data set"),
        (
            ("--concurrency", "2"),
            "--concurrency: cannot be combined with --target: it needs --out",
        ),
        (("--address", "localhost:1"), "--address: cannot be combined with --target"),
        (("--retry-failed",), "--retry-failed: cannot be combined with --target"),
    ],
)
def test_an_invalid_request_is_reported_by_its_option(
    options: tuple[str, ...], message: str
) -> None:
    ran = run_scaar("eval", "run", "--dataset", "lab", *options, "--target", NOBODY)
    assert ran.status == 2
    assert message in ran.err


@pytest.mark.parametrize(
    "options", [("--request-id", "nightly"), ("--tenant", "a"), ("--detach",)], ids=str
)
def test_an_option_of_a_service_is_refused_for_a_folder(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ran = run_scaar("eval", "run", "--dataset", "lab", *options, "--out", str(out))
    assert ran.status == 2
    assert f"{options[0]}: cannot be combined with --out: it needs --target" in ran.err
    assert not out.exists()


def test_a_file_without_questions_is_reported_by_its_record(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "a", "question": "Who?"}\n')
    ran = run_scaar(
        *("eval", "run", "--dataset", f"jsonl:{path}", "--policies", "no_retrieval"),
        *("--target", NOBODY),
    )
    assert ran.status == 2
    assert "mine.jsonl record 1, answers: is missing" in ran.err


def test_an_interrupted_creation_names_the_request_id_of_the_evaluation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class InterruptedEvaluator:
        async def create_evaluation(self, *_: object) -> None:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[InterruptedEvaluator]:
        yield InterruptedEvaluator()

    monkeypatch.setattr(service, "open_evaluator", opened)
    ran = run_scaar(
        *("eval", "run", "--dataset", "lab", "--policies", "no_retrieval"),
        *("--request-id", "nightly", "--target", NOBODY),
    )
    assert ran.status == 130
    assert ran.err == (
        "the evaluation may have been created: find it with scaar eval list --target "
        f"{NOBODY}, or run the same command with --request-id nightly\n"
    )


def test_an_unknown_state_is_reported() -> None:
    ran = run_scaar("eval", "list", "--state", "running,done", "--target", NOBODY)
    assert (ran.status, ran.out) == (2, "")
    assert "there is no state 'done'; known: queued, running, succeeded" in ran.err


@pytest.mark.parametrize(
    "command", ["watch ID", "cancel ID", "report ID --format json", "show ID --question q"]
)
def test_an_unreachable_evaluator_is_reported(command: str) -> None:
    ran = run_scaar("eval", *command.split(), "--target", NOBODY)
    assert ran.status == 1
    assert "127.0.0.1:1" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--out: or --format must be given with --target, but not both"),
        (("--out", "x", "--format", "json"), "--out: or --format must be given with --target"),
        (("--out", "x", "--resamples", "10"), "--target: has a report with the default reference"),
    ],
)
def test_a_report_of_a_service_needs_a_folder_or_a_format(
    options: tuple[str, ...], message: str
) -> None:
    ran = run_scaar("eval", "report", "ID", *options, "--target", NOBODY)
    assert ran.status == 2
    assert message in ran.err


def test_the_tables_are_created_once_and_then_checked(home: Path) -> None:
    missing = run_scaar("db", "check")
    assert (missing.status, missing.out) == (1, "")
    assert "create it with scaar db upgrade" in missing.err
    for command in ("upgrade", "upgrade", "check"):
        ran = run_scaar("db", command)
        assert (ran.status, ran.err) == (0, "")
        assert "has tables of revision 0005" in ran.out
    assert (home / "evaluations.sqlite").is_file()


@pytest.mark.parametrize(
    "url", ["mysql://host/x", "nothing", "postgresql", "postgresql://u@host:port/x"]
)
def test_another_database_is_refused_and_its_url_is_not_repeated(url: str) -> None:
    ran = run_scaar("db", "upgrade", "--database", url)
    assert ran.status == 2
    assert "database: must be sqlite:///FILE or postgresql://" in ran.err
    assert url not in ran.err.replace("postgresql://", "")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    ran = run_scaar("db", "upgrade", "--database", url)
    assert (ran.status, ran.out) == (2, "")
    assert "database: must be a file, sqlite:///FILE" in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ("db", "upgrade", "--tables", "records"),
        ("serve", "records", "--address", "127.0.0.1:0"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_data_folder_that_cannot_be_created_is_reported(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "file" / "home"))
    ran = run_scaar(*command)
    assert (ran.status, ran.out) == (1, "")
    assert f"{tmp_path}/file/home/records.sqlite cannot be created: Not a directory" in ran.err
    assert ran.err.count("\n") == 1


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    url = "postgresql://scaar:geheim@127.0.0.1:1/evaluations"
    ran = run_scaar("db", "upgrade", "--database", url)
    assert ran.status == 1
    assert "127.0.0.1:1" in ran.err
    assert "geheim" not in ran.err
