"""The output and the exit status of the command line."""

import io
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from pathlib import Path

import pytest

from scaar import __version__
from scaar.cli.main import main
from scaar.lab.models import SHIPPED_MODELS
from scaar.testing.commands import Ran, run_scaar


@pytest.fixture(autouse=True)
def _own_home(home: Path) -> None:
    """Every command has a data folder of its own."""


USAGE, FAILURE = 2, 1
LONG = "word " * 30_000
EVAL_RUN = ("eval", "run", "--dataset", "lab", "--out", "o")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["nonsense"], USAGE, "No such command 'nonsense'."),
        (["--nonsense"], USAGE, "No such option: --nonsense"),
        (["ask"], USAGE, "question: is missing; give a question, --messages or --file"),
        (["ask", "x", "--out", "o"], USAGE, "--out: requires --file"),
        (["ask", "x", "--retry-failed"], USAGE, "--retry-failed: requires --file"),
        (["ask", "x", "--concurrency", "3"], USAGE, "--concurrency: requires --file"),
        (["ask", "x", "--concurrency", "4"], USAGE, "--concurrency: requires --file"),
        (["ask", "x", "--rewrite", "never"], USAGE, "--rewrite: requires --messages"),
        (
            ["ask", "--file", "f", "--out", "o", "--rewrite", "never"],
            USAGE,
            "--rewrite: requires --messages",
        ),
        (["ask", "--file", "f"], USAGE, "--file: requires --out"),
        (
            ["ask", "x", "--file", "f", "--out", "o"],
            USAGE,
            "--file: cannot be combined with QUESTION",
        ),
        (["ask", "--file", "/no", "--out", "o"], USAGE, "--file: /no cannot be read: No such"),
        (["ask", ""], USAGE, "question: must not be empty"),
        (["ask", LONG], USAGE, "question: must have at most 131,072 characters, not 150,000"),
        (["ask", "a\x07b"], USAGE, "question: holds the control character U+0007 at 1"),
        (["ask", "\udcff"], USAGE, "question: holds the control character U+DCFF at 0"),
        (["ask", "x", "--polcy", "scaar"], USAGE, "No such option: --polcy"),
        (["ask", "x", "--policy", "maybe"], USAGE, "policy.name: there is no policy 'maybe'"),
        (["ask", "x", "--set", "theta"], USAGE, "--set: must be name=value, not 'theta'"),
        (
            ["ask", "x", "--set", "tau=1"],
            USAGE,
            "policy.tau: is not a policy setting; known: alpha,",
        ),
        (["ask", "x", "--set", "theta=x"], USAGE, "policy.theta: must be a number, not 'x'"),
        (["ask", "x", "--set", "theta=1.1"], USAGE, "policy.theta: must be in (0, 1]"),
        (["ask", "x", "--set", "theta=nan"], USAGE, "policy.theta: must be in (0, 1]"),
        (["ask", "x", "--set", "alpha=0"], USAGE, "policy.alpha: must be in (0, 100]"),
        (["ask", "x", "--set", "top_k=0"], USAGE, "policy.top_k: must be 1 to 100"),
        (["ask", "x", "--set", "top_k=101"], USAGE, "policy.top_k: must be 1 to 100"),
        (
            ["ask", "x", "--policy", "flare", "--set", "alpha=9"],
            USAGE,
            "policy.alpha: has no effect with query current_sentence",
        ),
        (["ask", "x", "--timeout", "0"], USAGE, "budget.timeout_s: must be in (0, 3600], not 0"),
        (["ask", "x", "--timeout", "nan"], USAGE, "budget.timeout_s: must be in (0, 3600]"),
        (["ask", "x", "--timeout", "x"], USAGE, "Invalid value for '--timeout'"),
        (["ask", "x", "--index", ""], USAGE, "index: must be 1 to 64 of"),
        (["ask", "x", "--address", "dns:///127.0.0.1:1"], FAILURE, "dns:///127.0.0.1:1 does not"),
        (["ask", "x", "--address", "http://h:1"], USAGE, "--address: must be a gRPC target, not"),
        (["search", "x", "--address", "here"], USAGE, "--address: must have a port, unlike 'here'"),
        (["eval", "list", "--target", "ftp://h"], USAGE, "--target: must be "),
        ([*EVAL_RUN, "--index", "Bad"], USAGE, "--index: must be 1 to 64 of a-z"),
        (
            ["eval", "queries", *EVAL_RUN[2:], "--drafts", "no/where", "--index", "a b"],
            USAGE,
            "--index: must be 1 to 64 of a-z",
        ),
        ([*EVAL_RUN, "--address", "idf=here"], USAGE, "--address: must have a port"),
        (["serve"], USAGE, "Missing argument 'SERVICE'."),
        (["serve", "cook"], USAGE, "Invalid value for 'SERVICE'"),
        (
            ["serve", "scorer", "--generator", "embedded"],
            USAGE,
            "--generator: is an option of the orchestrator",
        ),
        (["serve", "query-builder", "--address", "x"], USAGE, "--address: must be host:port"),
        (["serve", "query-builder", "--address", "127.0.0.1:70000"], USAGE, "--address: must be"),
        (["up", "--base-port", "x"], USAGE, "Invalid value for '--base-port'"),
        (["up", "--base-port", "0"], USAGE, "--base-port: must be 1 to 65535, not 0"),
        (
            ["up", "--processes", "--base-port", "65532"],
            USAGE,
            "--base-port: must be 1 to 65529, not 65532",
        ),
        (["index", "nonsense"], USAGE, "No such command 'nonsense'."),
        (["index", "build"], USAGE, "--corpus: must be given, or --from, or --lab"),
        (
            ["index", "build", "--corpus", "no/where.jsonl", "--index", "x"],
            USAGE,
            "corpus: no/where.jsonl cannot be read: No such file or directory",
        ),
        (["index", "build", "--corpus", "x", "--index", "../x"], USAGE, "index: must be 1 to 64"),
        (["index", "describe", "x"], FAILURE, "no index 'x'"),
        (["search", "x", "--index", "nope"], FAILURE, "no index 'nope'"),
        (["search", "x", "--top-k", "0"], USAGE, "top_k: must be 1 to 100, not 0"),
        (["search", "x", "--address", "dns:///127.0.0.1:1"], FAILURE, "dns:///127.0.0.1:1 does"),
        (["lab", "questions", "--count", "9999999"], USAGE, "--count: must be 0 to 8000"),
        (["lab", "questions", "--split", "middle"], USAGE, "Invalid value for '--split'"),
        (["lab", "questions", "--sentences", "12/9/1"], USAGE, "--sentences: facts must be one of"),
        (
            ["lab", "questions", "--sentences", "12/1/1", "--style", "0"],
            USAGE,
            "--style: does not apply to sentence forms",
        ),
        ([*EVAL_RUN, "--limit", "0"], USAGE, "--limit: must be at least 1, not 0"),
        ([*EVAL_RUN, "--set", "theta"], USAGE, "--set: must be NAME=V,..., not 'theta'"),
        (["models", "extra"], USAGE, "No such command 'extra'"),
    ],
)
def test_a_bad_command_line_is_reported_in_one_line(
    arguments: list[str], status: int, message: str
) -> None:
    ran = run_scaar(*arguments)
    assert ran.status == status
    assert ran.out == ""
    assert ran.err.startswith(f"scaar: {message}")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value", "status", "message"),
    [
        ("SCAAR_GENERATOR_THREADS", "many", USAGE, "SCAAR_GENERATOR_THREADS: Input should be"),
        (
            "SCAAR_GENERATOR_MODEL",
            "/no/where",
            FAILURE,
            "the model folder /no/where does not exist",
        ),
        ("SCAAR_SCORER_MODEL", "/no/where", FAILURE, "the model folder /no/where does not exist"),
        ("SCAAR_RETRIEVER_K1", "-1", USAGE, "SCAAR_RETRIEVER_K1: Input should be greater"),
        (
            "SCAAR_ORCHESTRATOR_SCORER_TARGET",
            "dns:///127.0.0.1:1",
            FAILURE,
            "dns:///127.0.0.1:1 does not answer",
        ),
        (
            "SCAAR_HOME",
            "/proc/nowhere",
            FAILURE,
            "the indexes cannot be used: No such file or directory: /proc/nowhere",
        ),
    ],
)
def test_an_invalid_setting_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, status: int, message: str
) -> None:
    monkeypatch.setenv(name, value)
    ran = run_scaar("ask", "Where was Ada born?")
    assert ran.status == status
    assert ran.out == ""
    assert ran.err.startswith(f"scaar: {message}")
    assert ran.err.count("\n") == 1


def test_an_error_is_reported_before_anything_is_loaded(home: Path) -> None:
    run_scaar("ask", "x", "--set", "theta=2")
    assert not home.exists()


@contextmanager
def fourth_of_four_taken() -> Iterator[int]:
    """The first of four ports in a row, of which the last alone is listened at."""
    with ExitStack() as taken:
        while True:
            # Below those that systems give out for port 0, which other processes come and go at.
            first, held = random.randrange(10_000, 30_000), ExitStack()
            with held, suppress(OSError):
                row = [held.enter_context(socket.socket()) for _ in range(4)]
                for number, each in enumerate(row):
                    each.bind(("127.0.0.1", first + number))
                row[-1].listen()
                for each in row[:-1]:
                    each.close()
                taken.enter_context(held.pop_all())
                break
        yield first


@pytest.mark.parametrize("command", ["serve", "up"])
def test_a_port_in_use_is_reported_before_anything_is_started(command: str) -> None:
    with fourth_of_four_taken() as first:
        address = f"127.0.0.1:{first + 3}"
        arguments = {
            "serve": ["serve", "query-builder", "--address", address],
            "up": ["up", "--processes", "--base-port", str(first)],
        }
        ran = run_scaar(*arguments[command])
    option = {"serve": "--address", "up": "--base-port"}[command]
    text = f"scaar: address {address} is already in use; choose another with {option}\n"
    assert ran == Ran(FAILURE, "", text)


@pytest.mark.parametrize("setting", ["ADDRESS", "HEALTH_ADDRESS", "METRICS_ADDRESS"])
def test_an_address_in_use_is_reported_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    for name in ("ADDRESS", "HEALTH_ADDRESS"):
        monkeypatch.setenv(f"SCAAR_QUERY_BUILDER_{name}", "127.0.0.1:0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv(f"SCAAR_QUERY_BUILDER_{setting}", address)
        ran = run_scaar("serve", "query-builder")
    assert ran.status == FAILURE
    advice = f"choose another with SCAAR_QUERY_BUILDER_{setting}"
    assert ran.err.endswith(f"{setting.lower()} {address} is already in use; {advice}\n")


def test_an_address_that_no_process_can_listen_on_is_reported_with_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_ADDRESS", "127.0.0.1:0")
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_METRICS_ADDRESS", "nowhere.invalid:1")
    ran = run_scaar("serve", "query-builder")
    assert ran.status == USAGE
    assert "SCAAR_QUERY_BUILDER_METRICS_ADDRESS: cannot listen on" in ran.err


def test_the_version_is_printed() -> None:
    assert run_scaar("--version") == Ran(0, f"scaar {__version__}\n", "")


@pytest.mark.parametrize("group", [(), ("index",), ("lab",)])
def test_a_group_without_a_command_prints_its_help(group: tuple[str, ...]) -> None:
    ran = run_scaar(*group)
    assert ran.status == USAGE
    assert ran.err.startswith(f"Usage: {' '.join(('scaar', *group))} ")
    assert ran.err.count("\n") > 5


@pytest.mark.parametrize(
    "command", ["ask", "search", "up", "serve", "models", "doctor", "demo", "index"]
)
def test_every_command_has_help(command: str) -> None:
    ran = run_scaar(command, "--help")
    assert ran.status == 0
    assert ran.out.startswith(f"Usage: scaar {command} ")
    assert ran.err == ""


def test_the_labs_models_are_listed_with_digest_and_report() -> None:
    models = run_scaar("lab", "models", "--format", "json").records
    assert [model["model"] for model in models] == [*SHIPPED_MODELS]
    for model in models:
        assert (Path(model["folder"]) / "model.onnx").is_file()
        assert len(model["files"]["model.onnx"]) == 64
        assert model["measured"]
    text = run_scaar("lab", "models").out
    for model in models:
        assert model["files"]["model.onnx"][:16] in text


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'bm25s.index'", name="bm25s.index")

    monkeypatch.setattr("scaar.cli.ask.commands.validate", fail)
    expected = "scaar: this command needs bm25s: install its extra, or scaar[all]\n"
    assert run_scaar("ask", "x") == Ran(FAILURE, "", expected)


def test_an_interrupt_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scaar.cli.ask.commands.validate", interrupt)
    assert run_scaar("ask", "x") == Ran(130, "", "")


def test_output_is_utf_8_whatever_the_locale(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "argv", ["scaar", "search", "▲🙂", "--address", "dns:///127.0.0.1:1"])
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(out, encoding="ascii"))
    with pytest.raises(SystemExit):
        main()
    assert sys.stderr.encoding == "utf-8"
    sys.stderr.flush()
    assert out.getvalue().startswith(b"scaar: dns:///127.0.0.1:1 does not answer")


def scaar(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scaar.cli", *arguments]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SCAAR_HOME": str(home),
        "PYTHONIOENCODING": "ascii",
    }
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", env=environment, check=False
    )


@pytest.mark.slow
def test_a_process_ends_with_one_line_and_the_status(home: Path) -> None:
    ran = scaar("ask", "Wörter 🙂", "--policy", "vielleicht 🙂", home=home)
    assert (ran.returncode, ran.stdout) == (USAGE, "")
    assert ran.stderr.startswith("scaar: policy.name: there is no policy 'vielleicht 🙂'; known: ")
    assert ran.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_process_without_its_service_reports_it_in_one_line(home: Path) -> None:
    ran = scaar("ask", "x", "--address", "dns:///127.0.0.1:1", home=home)
    assert (ran.returncode, ran.stdout) == (FAILURE, "")
    assert ran.stderr.startswith("scaar: ")
    assert ran.stderr.count("\n") == 1


def test_an_empty_address_gets_an_error_that_says_what_to_write(home: Path) -> None:
    ran = scaar("ask", "x", "--address", "", home=home)
    assert (ran.returncode, ran.stdout) == (USAGE, "")
    assert ran.stderr.startswith("scaar: --address: must not be empty: write HOST:PORT")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("lab", "questions", "--count", "2"),
        ("models", "--format", "csv"),
        ("models", "--format", "table"),
        ("doctor",),
        ("--version",),
        ("--help",),
    ],
)
@pytest.mark.parametrize("buffering", [1, -1])
def test_a_full_output_is_reported_in_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    buffering: int,
) -> None:
    monkeypatch.setattr(sys, "argv", ["scaar", *arguments])
    full = Path("/dev/full")
    with full.open("w", buffering) as out, redirect_stdout(out), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == FAILURE
    assert capsys.readouterr().err == "scaar: standard output: No space left on device\n"


@pytest.mark.parametrize("buffering", [1, -1])
@pytest.mark.parametrize("arguments", [["lab", "questions", "--count", "2"], ["models"]])
def test_an_output_that_its_reader_closed_is_no_failure(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    buffering: int,
) -> None:
    monkeypatch.setattr(sys, "argv", ["scaar", *arguments])
    reader, writer = os.pipe()
    os.close(reader)
    out = os.fdopen(writer, "w", buffering)
    with out, redirect_stdout(out), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["models"], ["ask", "Where was Ada Lovelace born?"]])
def test_a_process_with_a_full_output_ends_without_a_traceback(
    home: Path, arguments: list[str], unbuffered: str
) -> None:
    path = os.pathsep.join(sys.path)
    given = {"PYTHONPATH": path, "SCAAR_HOME": str(home), "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "scaar.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, **given},
            check=False,
        )
    assert ran.returncode == FAILURE
    assert ran.stderr == "scaar: standard output: No space left on device\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_line_of_standard_error_is_one_write(home: Path, unbuffered: str) -> None:
    path = os.pathsep.join(sys.path)
    given = {"PYTHONPATH": path, "SCAAR_HOME": str(home), "PYTHONUNBUFFERED": unbuffered}
    # Each write is a packet.
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            command = [sys.executable, "-m", "scaar.cli", "no-such-command"]
            subprocess.run(command, stderr=theirs, env={**os.environ, **given}, check=False)
        assert ours.recv(4096) == b"scaar: No such command 'no-such-command'.\n"


@pytest.mark.parametrize("setting", ["gate_file", "sentence_filter_file", "corpus_counts_file"])
@pytest.mark.parametrize(
    "command",
    [
        ("ask", "Who?"),
        ("demo",),
        ("eval", "run", "--dataset", "lab", "--limit", "1"),
        ("serve", "orchestrator", "--address", "127.0.0.1:0"),
    ],
    ids=" ".join,
)
def test_a_file_of_the_settings_is_opened_before_a_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: tuple[str, ...], setting: str
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", str(tmp_path / "no model"))
    monkeypatch.setenv(f"SCAAR_ORCHESTRATOR_{setting.upper()}", str(tmp_path / "no file"))
    out = ("--out", str(tmp_path / "out")) if command[0] == "eval" else ()
    ran = run_scaar(*command, *out)
    assert ran.status == USAGE
    assert f"{tmp_path / 'no file'} cannot be read: No such file" in ran.err
