"""The probe of hidden states on the lab's model, from an evaluation to answers behind it."""

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from scaar.core.types import GenerateRequest, Token
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.commands import run_scaar

QUESTION = "Who is the director of The Hollow Beacon?"
FILE = "SCAAR_ORCHESTRATOR_GATE_FILE"
EVALUATED = ("eval", "run", "--dataset", "lab", "--limit", "60", "--seed", "1001")


@pytest.fixture(scope="module")
def results(lab_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluation") / "results"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(lab_home))
        ran = run_scaar(*EVALUATED, "--policies", "no_retrieval", "--out", str(out))
    assert ran.status == 0, ran.err
    return out


async def states_of(question: str, layer: int) -> list[tuple[float, ...]]:
    """Return the hidden states of the answer, from the model itself."""
    request = GenerateRequest(
        f"Question: {question}\nAnswer:",
        max_tokens=128,
        stop=("\nQuestion:",),
        hidden_layer=layer,
    )
    async with (
        open_generator(GeneratorSettings(model=model_folder(LAB_LM))) as generator,
        aclosing(generator.generate(request)) as events,
    ):
        return [each.hidden_state async for each in events if isinstance(each, Token)]


@pytest.mark.long
def test_an_evaluation_becomes_a_probe_that_reads_the_models_states(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "probe.json"
    fit = ("eval", "fit-probe", str(results), "--out", str(path), "--format", "json")
    fitted = run_scaar(*fit)
    assert fitted.status == 0, fitted.err
    (row,) = fitted.records
    assert row["questions"] == 60
    gate = json.loads(path.read_bytes())
    assert (gate["layer"], gate["width"]) == (row["layer"], 128)
    assert gate["learned_from"]["wrong"] == row["wrong"]
    first = path.read_bytes()
    assert run_scaar(*fit).status == 0
    assert path.read_bytes() == first

    monkeypatch.setenv(FILE, str(path))
    ran = run_scaar("ask", QUESTION, "--json", "--policy", "single_round", "--gate", "probe")
    assert ran.status == 0, ran.err
    (judged,) = (each for each in ran.records if each["event"] == "gate_judged")
    states = asyncio.run(states_of(QUESTION, gate["layer"]))
    scaled = (np.mean(states, axis=0) - gate["means"]) / np.array(gate["scales"])
    expected = 1 / (1 + np.exp(-(gate["intercept"] + scaled @ gate["coefficients"])))
    assert judged["probability"] == pytest.approx(expected, abs=1e-5)
    assert judged["features"]["tokens"] == len(states)  # type: ignore[index]
    assert judged["policy"] == ("single_round" if expected >= 0.5 else "no_retrieval")

    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", "lab-lm-b")
    other = run_scaar("ask", QUESTION, "--json", "--policy", "single_round", "--gate", "probe")
    assert other.status != 0
    assert "gate probe was fitted to model lab-lm " in other.err
    refused = run_scaar(*fit)
    assert refused.status != 0
    assert "DIR: has answers of model lab-lm (" in refused.err
    assert "the generator of the settings serves lab-lm-b (" in refused.err


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ("4", "--layers: must be from 0 to 3, not '4'"),
        ("1,1", "--layers: 1 is named twice"),
        ("x", "--layers: must be from 0 to 3, not 'x'"),
    ],
)
@pytest.mark.long
def test_a_layer_that_the_model_lacks_is_refused(
    results: Path, tmp_path: Path, layers: str, message: str
) -> None:
    out = tmp_path / "probe.json"
    ran = run_scaar("eval", "fit-probe", str(results), "--out", str(out), "--layers", layers)
    assert ran.status != 0
    assert message in ran.err
    assert not out.exists()
