"""Calibrated P(correct) on the lab's model, from an evaluation to answers that abstain."""

import asyncio
import json
import math
from contextlib import aclosing
from pathlib import Path

import pytest

from scaar.core.types import GenerateRequest, Token
from scaar.evaluator.store.folder import read_results
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.commands import run_scaar

QUESTION = "Who is the director of The Hollow Beacon?"
FILE = "SCAAR_ORCHESTRATOR_GATE_FILE"
GATED = ("--policy", "single_round", "--gate", "p_correct")


async def mean_logprob(question: str) -> float:
    """Return the mean log-probability of the answer without passages, from the model itself."""
    request = GenerateRequest(
        f"Question: {question}\nAnswer:", max_tokens=128, stop=("\nQuestion:",)
    )
    async with (
        open_generator(GeneratorSettings(model=model_folder(LAB_LM))) as generator,
        aclosing(generator.generate(request)) as events,
    ):
        found = [each.logprob or 0.0 async for each in events if isinstance(each, Token)]
    return sum(found) / len(found)


@pytest.mark.long
def test_an_evaluation_becomes_a_gate_whose_answers_can_abstain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, path, gated = tmp_path / "results", tmp_path / "gate.json", tmp_path / "gated"
    evaluated = ("eval", "run", "--dataset", "lab", "--seed", "1001")
    ran = run_scaar(
        *(*evaluated, "--limit", "60", "--policies", "no_retrieval", "--out", str(results))
    )
    assert ran.status == 0, ran.err
    fit = ("eval", "fit-p-correct", str(results), "--out", str(path), "--abstain-below", "1.0")
    fitted = run_scaar(*fit, "--format", "json")
    assert fitted.status == 0, fitted.err
    assert fitted.records[0]["questions"] == 60
    assert fitted.records[0]["after"] < fitted.records[0]["before"]  # type: ignore[operator]
    curve = json.loads(path.read_bytes())["curve"]
    value = curve["slope"] * asyncio.run(mean_logprob(QUESTION)) + curve["intercept"]

    monkeypatch.setenv(FILE, str(path))
    asked = run_scaar("ask", QUESTION, "--json", *GATED, "--set", "gate_threshold=0.000001")
    assert asked.status == 0, asked.err
    (judged,) = (each for each in asked.records if each["event"] == "gate_judged")
    assert judged["probability"] == pytest.approx(1 / (1 + math.exp(value)), abs=1e-6)
    abstained = asked.records[-1]["abstained"]
    assert isinstance(abstained, dict)
    assert abstained["p_correct"] < abstained["limit"] == 1.0
    assert asked.records[-1]["answer"]

    again = (*evaluated, "--limit", "6", "--policies", "single_round", "--gate", "p_correct")
    ran = run_scaar(*again, "--out", str(gated))
    assert ran.status == 0, ran.err
    for each in read_results(gated).predictions:
        retrieved = each.usage.retrievals > 0 and each.setting.endswith("gate=p_correct")
        assert (each.abstained is not None) is retrieved
