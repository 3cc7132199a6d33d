"""vLLM answers as the embedded engine does, under every policy that it can serve."""

import json
from pathlib import Path
from typing import Any

import pytest

from scaar.generator.engines.openai import open_openai_generator
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.commands import run_scaar

from ..servers.vllm.vllm_server import VllmServer
from .conftest import settings_for

POLICIES = (
    *("no_retrieval", "single_round", "fixed_length", "fixed_sentence", "ircot"),
    *("perplexity", "flare", "scaar"),
)
"""Policies that need neither entropy nor attention."""
COMPARED = ("id", "answer", "text", "end", "retrievals", "llm_calls")


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    path.write_text(run_scaar("lab", "questions", "--seed", "2000", "--count", "10").out)
    return path


def answers(questions: Path, out: Path, *options: str) -> list[dict[str, Any]]:
    """Return what is compared of each answer."""
    ran = run_scaar("ask", "--file", str(questions), "--out", str(out), *options)
    assert ran.status == 0, ran.err
    records = [json.loads(line) for line in out.read_text().splitlines()]
    records.sort(key=lambda each: str(each["id"]))
    return [{name: each[name] for name in COMPARED} for each in records]


@pytest.mark.parametrize(
    ("policy", "openai_api"),
    [*((policy, "completions") for policy in POLICIES), ("scaar", "chat"), ("flare", "chat")],
)
def test_ten_questions_are_answered_as_by_the_embedded_engine(
    vllm: VllmServer,
    lab_home: Path,
    policy: str,
    openai_api: str,
    questions: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(lab_home))
    expected = answers(questions, tmp_path / "embedded.jsonl", "--policy", policy)
    given = {"engine": "openai", "url": vllm.url, "prompt_profile": "lab", "openai_api": openai_api}
    # A server does not report the recommendations of the lab's model.
    recommended = json.loads((model_folder(LAB_LM) / "scaar.json").read_text())["recommended"]
    given |= {"recommended": json.dumps(recommended), "read_timeout_s": "300"}
    for name, value in given.items():
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
    found = answers(questions, tmp_path / "vllm.jsonl", "--policy", policy)
    assert len(found) == 10
    assert found == expected


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_the_capabilities_are_those_of_the_documentation(
    vllm: VllmServer, openai_api: str
) -> None:
    async with open_openai_generator(settings_for(vllm, openai_api=openai_api)) as generator:
        found = await generator.server_capabilities()
    assert found["kind of server"] == "vllm"
    assert found["log-probabilities"] == "raw"
    assert found["alignment"] == "exact"
    assert found["continuation"] == "native"
    assert found["prompt tokens"] == "reported"
    assert found["context"] == "2048 tokens"
