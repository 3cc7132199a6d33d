"""``scaar doctor``: its checks and advice follow the engines of the settings."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from threading import Thread

import pytest

from scaar.core.ports import Generator
from scaar.generator.factory import open_engine
from scaar.generator.settings import GeneratorSettings
from scaar.testing.commands import run_scaar
from scaar.testing.word_encoder import write_word_encoder

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


OF_SERVER = (f"SCAAR_GENERATOR_URL={NOWHERE}", "SCAAR_GENERATOR_PROMPT_PROFILE=lab")
DOCTOR_WITHOUT = """
import os, sys
for library in sys.argv[1].split(","):
    sys.modules[library] = None
from scaar.core.ports import Generator
from scaar.generator.factory import open_engine
from scaar.generator.settings import GeneratorSettings
from scaar.testing.commands import run_scaar
for variable in sys.argv[2:]:
    name, _, value = variable.partition("=")
    os.environ[name] = value
ran = run_scaar("doctor")
print(ran.out)
assert ran.status == 1, ran
"""


@pytest.mark.parametrize(
    ("libraries", "settings", "problems"),
    [
        (
            "onnxruntime,bm25s",
            (),
            (
                "generator model: engine onnx needs onnxruntime: install scaar[generator]",
                "scorer model: engine onnx needs onnxruntime: install scaar[scorer]",
                "index geo: engine bm25s needs bm25s: install scaar[retriever]",
            ),
        ),
        (
            "torch,onnxruntime,opensearchpy",
            (
                *("SCAAR_GENERATOR_ENGINE=transformers", "SCAAR_SCORER_ENGINE=bi_encoder"),
                "SCAAR_RETRIEVER_ENGINE=opensearch",
            ),
            (
                "generator model: engine transformers needs torch: install scaar[transformers]",
                "scorer model: engine bi_encoder needs onnxruntime: install scaar[scorer]",
                "indexes: engine opensearch needs opensearchpy: install scaar[opensearch]",
            ),
        ),
        (
            "aiohttp,tritonclient,faiss",
            (
                *("SCAAR_GENERATOR_ENGINE=tgi", *OF_SERVER),
                *("SCAAR_SCORER_ENGINE=triton", "SCAAR_SCORER_TRITON_TARGET=127.0.0.1:1"),
            ),
            (
                "generator model: engine tgi needs aiohttp: install scaar[tgi]",
                "scorer model: engine triton needs tritonclient: install scaar[triton]",
                "index geo: a vector index needs faiss: install scaar[dense]",
            ),
        ),
        (
            "openai,wordfreq",
            ("SCAAR_GENERATOR_ENGINE=openai", *OF_SERVER, "SCAAR_SCORER_CONTROL=idf"),
            (
                "generator model: engine openai needs openai: install scaar[openai]",
                "scorer model: control idf needs wordfreq: install scaar[idf]",
            ),
        ),
    ],
)
def test_every_missing_library_is_reported_with_its_extra(
    home: Path, libraries: str, settings: tuple[str, ...], problems: tuple[str, ...]
) -> None:
    passage = '{"id": "a", "title": "Etna", "text": "a volcano in Italy"}\n'
    home.mkdir()
    corpus = home / "passages.jsonl"
    corpus.write_text(passage)
    dense: tuple[str, ...] = ()
    if "faiss" in libraries:
        encoder = write_word_encoder(home / "words", ["Etna a volcano in Italy"])
        dense = ("--encoder", str(encoder))
    assert run_scaar("index", "build", "geo", "--corpus", str(corpus), *dense).status == 0
    command = (sys.executable, "-c", DOCTOR_WITHOUT, libraries, *settings)
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    for problem in problems:
        assert f"✗ {problem}\n    Install what is missing, or choose another" in ran.stdout


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


@pytest.mark.parametrize("below", ["", "home"])
def test_a_data_home_that_is_no_folder_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, below: str
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("SCAAR_HOME", str(file / below))
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert f"✗ data home: {file} is not a folder\n    Set SCAAR_HOME to a folder." in ran.out


def test_a_data_home_that_cannot_be_written_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    # The user who runs the tests may write everywhere.
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode and access(path, mode))
    assert f"! data home: {home}, which this user cannot write\n" in run_scaar("doctor").out


def test_a_misspelled_variable_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_INDEXS", "/no/where")
    ran = run_scaar("doctor")
    warning = "SCAAR_RETRIEVER_INDEXS is not a setting; did you mean SCAAR_RETRIEVER_INDEXES?"
    assert f"! environment: {warning}\n" in ran.out
    assert ran.status == 0


@pytest.mark.parametrize(
    ("variable", "problem"),
    [
        ("SCAAR_RETRIEVER_ENCODER", "the model folder /no/where does not exist"),
        ("SCAAR_RETRIEVER_RERANKER", "the model folder /no/where does not exist"),
        ("SCAAR_ORCHESTRATOR_GATE_FILE", "gate_file: /no/where cannot be read: No such file"),
        (
            "SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE",
            "sentence_filter_file: /no/where cannot be read: No such file",
        ),
        (
            "SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE",
            "corpus_counts_file: corpus counts /no/where cannot be read: No such file",
        ),
    ],
)
def test_a_missing_file_is_a_problem_of_the_setting_that_names_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, problem: str
) -> None:
    monkeypatch.setenv(variable, "/no/where")
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert f"✗ {variable}: {problem}" in ran.out
    assert ran.out.count("✗") == 1


def test_a_file_of_another_kind_is_a_problem_of_its_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gate.json").write_text("{}")
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_GATE_FILE", str(tmp_path / "gate.json"))
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert f"✗ SCAAR_ORCHESTRATOR_GATE_FILE: gate_file: {tmp_path / 'gate.json'}" in ran.out


def test_models_of_the_retriever_that_open_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = write_word_encoder(tmp_path / "words", ["Etna a volcano in Italy"])
    monkeypatch.setenv("SCAAR_RETRIEVER_ENCODER", str(encoder))
    monkeypatch.setenv("SCAAR_RETRIEVER_RERANKER", "lab-reranker")
    ran = run_scaar("doctor")
    assert ran.status == 0
    assert f"✓ SCAAR_RETRIEVER_ENCODER: {encoder}\n" in ran.out
    assert "✓ SCAAR_RETRIEVER_RERANKER: lab-reranker\n" in ran.out


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("SCAAR_ORCHESTRATOR_DEFAULT_POLICY", "maybe", "there is no policy 'maybe'"),
        ("SCAAR_ORCHESTRATOR_SHADOW_POLICY", "maybe", "there is no policy 'maybe'"),
        ("SCAAR_RETRIEVER_PRELOAD", '["geo"]', "no index 'geo'"),
    ],
)
def test_a_setting_with_which_no_question_is_answered_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, problem: str
) -> None:
    monkeypatch.setenv(variable, value)
    ran = run_scaar("doctor")
    assert ran.status == 1
    assert "✗ answers: " in ran.out
    assert problem in ran.out


def test_the_model_is_opened_once_for_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = 0

    @asynccontextmanager
    async def counted(settings: GeneratorSettings) -> AsyncIterator[Generator]:
        nonlocal opened
        opened += 1
        async with open_engine(settings) as engine:
            yield engine

    monkeypatch.setattr("scaar.cli.serve.doctor.open_engine", counted)
    ran = run_scaar("doctor", "--probe")
    assert (ran.status, opened) == (0, 1), ran.out
    assert "✓ generator model: lab-lm" in ran.out
    assert "✓ tuned policy " in ran.out


def test_a_model_that_cannot_be_opened_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = 0

    def counted(settings: GeneratorSettings) -> AbstractAsyncContextManager[Generator]:
        nonlocal opened
        opened += 1
        return open_engine(settings)

    monkeypatch.setattr("scaar.cli.serve.doctor.open_engine", counted)
    monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "openai")
    monkeypatch.setenv("SCAAR_GENERATOR_URL", NOWHERE)
    ran = run_scaar("doctor", "--probe")
    assert (ran.status, opened) == (1, 1)
    assert ran.out.count("✗ generator") == 2
