"""The probe of hidden states: its probability, its file, and the models that it refuses."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import CapabilityMissing, DataCorrupt
from scaar.core.gates import gate_without_file, read_gate
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.probe import LinearProbe, ProbeGate, mean_state
from scaar.core.gates.probe_json import probe_to_json
from scaar.core.types import GenerateRequest, Token
from scaar.testing.fakes import SAMPLED_MODEL
from scaar.testing.gate_model import ScriptedGateModel

PROBE = LinearProbe((1.0, -1.0, 0.5), (2.0, 0.5, 1.0), (0.25, -1.5, 3.0), -0.5)
GATE = ProbeGate("", FittedModel("lm", "r1"), 2, PROBE, 0.4, 64)
CONTENT = probe_to_json(GATE, learned_from={"data set": "lab"})
NUMBERS = st.floats(-5, 5)


def tokens(*states: tuple[float, ...]) -> list[Token]:
    return [Token(0, "a", at, at + 1, hidden_state=state) for at, state in enumerate(states)]


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4))
async def test_the_probability_is_the_one_that_numpy_computes(
    states: list[tuple[float, ...]],
) -> None:
    judged = await GATE.judge("Who?", ScriptedGateModel(lambda request: [tokens(*states)]))
    scaled = (np.array(states).mean(axis=0) - [1.0, -1.0, 0.5]) / [2.0, 0.5, 1.0]
    expected = 1 / (1 + np.exp(0.5 - scaled @ [0.25, -1.5, 3.0]))
    assert judged.probability == pytest.approx(expected)
    assert judged.features["tokens"] == len(states)
    assert judged.features["logit"] == pytest.approx(np.log(expected / (1 - expected)), abs=1e-4)


async def test_the_model_writes_its_answer_once_with_the_states_of_the_layer() -> None:
    model = ScriptedGateModel(lambda request: [tokens((0.0, 0.0, 0.0))])
    await GATE.judge("Who?", model)
    expected = GenerateRequest(model.prompt, max_tokens=64, stop=model.profile.stop, hidden_layer=2)
    assert model.written == [expected]


async def test_a_question_without_an_answer_needs_retrieval() -> None:
    judged = await GATE.judge("Who?", ScriptedGateModel(lambda request: [[]]))
    assert (judged.probability, judged.features) == (1.0, {"tokens": 0.0})


@pytest.mark.parametrize("states", [[(1.0, 2.0)], [(1.0, 2.0, 3.0), (1.0,)], [()]])
async def test_states_of_another_width_are_refused(states: list[tuple[float, ...]]) -> None:
    model = ScriptedGateModel(lambda request: [tokens(*states)])
    with pytest.raises(CapabilityMissing, match="reads hidden states of width 3, and those of"):
        await GATE.judge("Who?", model)


def test_the_mean_state_is_over_all_tokens() -> None:
    assert mean_state(tokens((1.0, 2.0), (3.0, 6.0))) == (2.0, 4.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"model": "other"},
            r"fitted to model lm \(revision r1\), and .* of other \(revision r1\)",
        ),
        ({"revision": "r2"}, r"lm \(revision r1\), and .* of lm \(revision r2\)"),
        ({"revision": ""}, r"of lm \(no revision\): fit the gate to that model"),
        ({"hidden_layers": 1}, "reads layer 2, and model lm has 1"),
    ],
)
def test_another_model_is_refused(change: dict[str, object], message: str) -> None:
    described = replace(SAMPLED_MODEL, model="lm", revision="r1")
    GATE.check_model(described)
    with pytest.raises(CapabilityMissing, match=message):
        GATE.check_model(replace(described, **change))  # type: ignore[arg-type]


def test_a_file_contains_the_whole_gate_and_its_revision_is_a_digest() -> None:
    read = read_gate(CONTENT, "probe.json")
    assert read == replace(GATE, revision=read.revision)
    assert len(read.revision) == 12
    assert gate_without_file("probe") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_revision": None}, "model_revision must be a string, not None"),
        ({"layer": -1}, "layer must be a whole number of at least 0, not -1"),
        ({"width": 4}, "means must have width numbers, 4, not 3"),
        ({"coefficients": [1, 2]}, "coefficients must have width numbers, 3, not 2"),
        ({"means": [1, "x", 3]}, r"means\[1\] must be a number, not 'x'"),
        ({"means": 3}, "means must be a list, not 3"),
        ({"scales": [1, 0, 1]}, "scales must be above 0"),
        ({"intercept": True}, "intercept must be a number, not True"),
        ({"tokens": 0}, "tokens must be a whole number from 1 to 256, not 0"),
        ({"threshold": 2}, r"threshold must be in \(0, 1\], not 2"),
    ],
)
def test_a_damaged_file_is_refused_with_the_wrong_field(
    change: dict[str, object], message: str
) -> None:
    document = json.loads(CONTENT) | change
    with pytest.raises(DataCorrupt, match=f"probe.json: {message}"):
        read_gate(json.dumps(document).encode(), "probe.json")
