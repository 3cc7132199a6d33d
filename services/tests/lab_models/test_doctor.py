"""``scaar doctor``: checks that pass, and problems with advice."""

import asyncio
import shutil
from pathlib import Path

import pytest

from scaar.testing.commands import Ran, run_scaar
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.sockets import serving
from scaar.wire.orchestrator import OrchestratorServicer

from .test_lab_openai import serving as openai_serving

FAILURE = 1


def test_every_check_that_passes_is_a_line() -> None:
    ran = run_scaar("doctor")
    assert (ran.status, ran.err) == (0, "")
    checks = [line.split(":")[0] for line in ran.out.splitlines()]
    versions = ["python", "scaar", "grpcio", "onnxruntime", "bm25s"]
    parts = [*versions, "data home", "generator model", "scorer model", "index lab"]
    assert set(checks) >= {f"✓ {part}" for part in parts}
    assert "✗" not in ran.out


def test_a_damaged_index_is_reported_with_advice(
    lab_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(lab_home, tmp_path / "home")
    largest = max(
        (tmp_path / "home" / "indexes" / "lab").rglob("*.*"), key=lambda path: path.stat().st_size
    )
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path / "home"))
    ran = run_scaar("doctor")
    assert (ran.status, ran.err) == (FAILURE, "")
    assert "✗ index lab: " in ran.out
    assert "scaar index drop lab" in ran.out


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "SCAAR_GENERATOR_MODEL",
            "/no/where",
            "✗ generator model: the model folder /no/where does not exist",
        ),
        ("SCAAR_SCORER_THREADS", "many", "✗ scorer model: SCAAR_SCORER_THREADS: Input"),
        ("SCAAR_RETRIEVER_K1", "-1", "✗ indexes: SCAAR_RETRIEVER_K1: Input should"),
        (
            "SCAAR_ORCHESTRATOR_SCORER_TARGET",
            "dns:///127.0.0.1:1",
            "✗ scorer: dns:///127.0.0.1:1 did not report",
        ),
    ],
)
def test_an_invalid_setting_is_reported(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)
    ran = run_scaar("doctor")
    assert (ran.status, ran.err) == (FAILURE, "")
    assert message in ran.out
    assert ran.out.count("✗") == 1


def test_an_unreachable_orchestrator_is_reported() -> None:
    ran = run_scaar("doctor", "--address", "dns:///127.0.0.1:1")
    assert ran.status == FAILURE
    assert "✗ orchestrator: dns:///127.0.0.1:1 did not report" in ran.out


def test_a_serving_orchestrator_is_reported() -> None:
    async def examined() -> tuple[str, Ran]:
        async with serving(OrchestratorServicer(ScriptedAnswerer(lambda _: ()))) as (_, target):
            return target, await asyncio.to_thread(run_scaar, "doctor", "--address", target)

    target, ran = asyncio.run(examined())
    assert ran.status == 0
    assert f"✓ orchestrator: {target} is SERVING\n" in ran.out


def test_the_probe_prints_what_the_server_returns_and_warns_of_an_engine_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run_scaar("doctor", "--probe")
    assert ran.status == 0
    text = "engine onnx has none to probe; engines openai, tgi and llama_cpp have one"
    assert f"! generator server: {text}" in ran.out
    with openai_serving("generic", "no-usage") as server:
        monkeypatch.setenv("SCAAR_GENERATOR_ENGINE", "openai")
        monkeypatch.setenv("SCAAR_GENERATOR_URL", server.url)
        monkeypatch.setenv("SCAAR_GENERATOR_PROMPT_PROFILE", "lab")
        ran = run_scaar("doctor", "--probe")
    assert ran.status == 0
    assert "✓ generator server, kind of server: generic" in ran.out
    assert "✓ generator server, prompt tokens: unknown" in ran.out
