"""``scaar evals`` and ``scaar db`` as a user meets them, before a service is there."""

from pathlib import Path

import pytest

from scaar.testing.commands import run_scaar

NOBODY = "dns:///127.0.0.1:1"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "--dataset: or --questions must be given, and not both"),
        (("--dataset", "lab", "--questions", "q.jsonl"), "and not both"),
        (("--dataset", "lab", "--policies", "guess"), "there is no policy 'guess'"),
        (("--dataset", "lab", "--theta", "high"), "must be a number, not 'high'"),
        (("--dataset", "lab", "--tenant", "é"), "tenant: must be printable ASCII"),
    ],
)
def test_a_wrong_request_is_told_by_its_option(options: tuple[str, ...], told: str) -> None:
    ran = run_scaar("evals", "create", *options, "--target", NOBODY)
    assert ran.status == 2
    assert told in ran.err


def test_a_file_that_holds_no_questions_is_told_by_its_record(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "a", "question": "Who?"}\n')
    ran = run_scaar(
        *("evals", "create", "--questions", str(path), "--policies", "no_retrieval"),
        *("--target", NOBODY),
    )
    assert ran.status == 2
    assert "mine.jsonl record 1, answers: is missing" in ran.err


def test_a_state_that_is_none_is_told() -> None:
    ran = run_scaar("evals", "list", "--state", "running,done", "--target", NOBODY)
    assert (ran.status, ran.out) == (2, "")
    assert "there is no state 'done'; known: queued, running, succeeded" in ran.err


@pytest.mark.parametrize("command", ["watch", "cancel", "report"])
def test_an_evaluator_that_is_not_there_is_told(command: str) -> None:
    ran = run_scaar("evals", command, "ID", "--target", NOBODY)
    assert ran.status == 1
    assert "127.0.0.1:1" in ran.err


def test_the_tables_are_made_once_and_then_checked(home: Path) -> None:
    missing = run_scaar("db", "check")
    assert (missing.status, missing.out) == (1, "")
    assert "make it with scaar db upgrade" in missing.err
    for command in ("upgrade", "upgrade", "check"):
        ran = run_scaar("db", command)
        assert (ran.status, ran.err) == (0, "")
        assert "has tables of revision 0001" in ran.out
    assert (home / "evaluations.sqlite").is_file()


@pytest.mark.parametrize("url", ["mysql://host/x", "nothing", "postgresql"])
def test_another_database_is_refused_and_its_url_is_not_repeated(url: str) -> None:
    ran = run_scaar("db", "upgrade", "--database", url)
    assert ran.status == 2
    assert "database: must be sqlite:///FILE or postgresql://" in ran.err
    assert url not in ran.err.replace("postgresql://", "")


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    url = "postgresql://scaar:geheim@127.0.0.1:1/evaluations"
    ran = run_scaar("db", "upgrade", "--database", url)
    assert ran.status == 1
    assert "127.0.0.1:1" in ran.err
    assert "geheim" not in ran.err
