"""``scaar doctor``: its checks and advice follow the engines of the settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError
from threading import Thread

import pytest

from scaar.testing.commands import run_scaar

NOWHERE = "http://127.0.0.1:1"


@contextmanager
def rejecting(status: int) -> Iterator[str]:
    """The URL of a server that rejects every request with this status."""

    class Rejection(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_error(status)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Keep the log of the test empty."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Rejection) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def _own_home(home: object) -> None:
    """Every check has a data folder of its own."""


@pytest.mark.parametrize("engine", ["tgi", "openai"])
def test_the_advice_for_a_model_server_is_of_the_server(
    monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", engine)
    monkeypatch.setenv("SCAAR_GENERATOR_URL", NOWHERE)
    monkeypatch.setenv("SCAAR_GENERATOR_PROMPT_PROFILE", "lab")
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert f"\n    Start the {engine} server, or correct SCAAR_GENERATOR_URL and its" in ran.out
    assert "Restore the file" not in ran.out


@pytest.mark.parametrize("engine", ["tgi", "openai"])
@pytest.mark.parametrize(("status", "text"), [(400, "rejected"), (401, "SCAAR_GENERATOR_API_KEY")])
def test_the_advice_for_a_rejected_request_is_of_the_server(
    monkeypatch: pytest.MonkeyPatch, engine: str, status: int, text: str
) -> None:
    with rejecting(status) as url:
        monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", engine)
        monkeypatch.setenv("SCAAR_GENERATOR_URL", url)
        monkeypatch.setenv("SCAAR_GENERATOR_PROMPT_PROFILE", "lab")
        ran = run_scaar("doctor")
    problem, advice = ran.out.split("✗ generator model: ")[1].splitlines()[:2]
    assert text in problem
    assert advice.startswith(f"    Start the {engine} server, or correct SCAAR_GENERATOR_URL")


def test_the_advice_for_a_model_folder_is_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "/no/where")
    ran = run_scaar("doctor")
    assert "\n    Restore the file, set SCAAR_GENERATOR_MODEL to another" in ran.out


def test_packages_of_unused_engines_are_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("scaar.cli.serve.doctor.version", none)
    monkeypatch.setattr("scaar.cli.serve.doctor.SERVING_TIMEOUT_S", 0.1)
    monkeypatch.setattr("scaar.cli.serve.doctor.ALIVE_TIMEOUT_S", 0.1)
    found = run_scaar("doctor").out
    assert "✗ onnxruntime: is not installed\n    Install scaar[generator]," in found
    for service in ("GENERATOR", "SCORER", "RETRIEVER"):
        monkeypatch.setenv(f"SCAAR_ORCHESTRATOR_{service}_TARGET", "dns:///127.0.0.1:1")
    found = run_scaar("doctor").out
    assert "✗ grpcio: is not installed\n    Install scaar[serve]," in found
    assert "onnxruntime" not in found
    assert "bm25s" not in found


def test_a_misspelled_variable_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_INDEXS", "/no/where")
    ran = run_scaar("doctor")
    warning = "SCAAR_RETRIEVER_INDEXS is not a setting; did you mean SCAAR_RETRIEVER_INDEXES?"
    assert f"! environment: {warning}\n" in ran.out
    assert ran.status == 0
