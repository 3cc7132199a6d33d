"""SeaKR's uncertainty, compared with numpy, and the requests and refusals of its gate."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import CapabilityMissing, DataCorrupt
from scaar.core.gates import GateJudgement, gate_without_file, read_gate
from scaar.core.gates.seakr import THRESHOLD, SeakrGate, eigenscore
from scaar.core.types import GenerateRequest, Token
from scaar.testing.fakes import SAMPLED_MODEL
from scaar.testing.gate_model import ScriptedGateModel

STATES = st.integers(2, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.floats(-9, 9), min_size=width, max_size=width), min_size=2, max_size=20
    )
)


def expected(states: list[list[float]], alpha: float) -> float:
    """SeaKR Eq. 1 to 3 by matrices, as its authors' code computes it."""
    z = np.array(states)
    count, width = z.shape
    centre = np.eye(width) - np.ones((width, width)) / width
    sign, log = np.linalg.slogdet(z @ centre @ z.T + alpha * np.eye(count))
    assert sign > 0
    return float(log / count)


@given(STATES, st.sampled_from([1e-3, 0.1, 1.0]))
def test_the_uncertainty_is_the_log_determinant_of_the_gram_matrix(
    states: list[list[float]], alpha: float
) -> None:
    assert eigenscore(states, alpha) == pytest.approx(expected(states, alpha), abs=1e-4)


@given(STATES)
def test_the_uncertainty_is_at_least_that_of_states_without_spread(
    states: list[list[float]],
) -> None:
    assert eigenscore(states, 1e-3) >= math.log(1e-3) - 1e-9
    flat = [[float(number)] * 3 for number, _ in enumerate(states)]
    assert eigenscore(flat, 1e-3) == pytest.approx(math.log(1e-3))


def gate_of(**fields: object) -> SeakrGate:
    gate = read_gate(json.dumps({"format": 1, "gate": "seakr", **fields}).encode(), "gate.json")
    assert isinstance(gate, SeakrGate)
    return gate


def answers(*states: tuple[float, ...]) -> ScriptedGateModel:
    tokens = [[Token(0, " Ada", 0, 4, hidden_state=state)] for state in states]
    return ScriptedGateModel(lambda request: tokens, description=SAMPLED_MODEL)


async def judged(model: ScriptedGateModel, gate: SeakrGate | None = None) -> GateJudgement:
    return await (gate or gate_of()).judge("Who?", model)


async def test_a_file_is_not_needed_and_the_numbers_are_those_of_the_authors_code() -> None:
    gate = gate_without_file("seakr")
    assert gate is not None
    assert gate.threshold == THRESHOLD == pytest.approx(1 - math.exp(math.log(1e-3) + 6))
    model = answers((1.0, 0.0), (0.0, 1.0))
    await gate.judge("Who?", model)
    (request,) = model.written
    assert (request.n, request.temperature, request.seed, request.max_tokens) == (20, 1.0, 0, 100)
    assert request.hidden_layer == 1  # the middle one of two
    assert (request.prompt, request.stop) == (model.prompt, model.profile.stop)


async def test_the_judgement_rises_with_the_uncertainty() -> None:
    close = await judged(answers((1.0, 0.0), (1.0, 0.0)))
    far = await judged(answers((1.0, 0.0), (0.0, 1.0)))
    both = [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
    for found, states in zip((close, far), both, strict=True):
        value = expected(states, 1e-3)
        assert found.features == {"uncertainty": pytest.approx(value), "answers": 2.0}
        assert found.probability == pytest.approx(1 - 1e-3 / math.exp(value))
    assert close.probability == pytest.approx(far.probability)  # one line has one direction
    wide = await judged(answers((3.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 3.0)))
    assert wide.probability > far.probability


async def test_empty_answers_do_not_count_and_less_than_two_need_retrieval() -> None:
    empty = [Token(0, " ", 0, 1, hidden_state=(5.0, 1.0))]
    one = [Token(0, " Ada", 0, 4, hidden_state=(1.0, 0.0))]
    model = ScriptedGateModel(lambda request: [empty, one, []], description=SAMPLED_MODEL)
    assert await judged(model) == GateJudgement(1.0, {"answers": 1.0})


async def test_the_values_of_a_file_are_used() -> None:
    gate = gate_of(threshold=0.9, samples=5, temperature=0.5, tokens=20, layer=2, alpha=0.5)
    assert gate.threshold == 0.9
    model = answers((1.0, 0.0), (0.0, 1.0))
    found = await judged(model, gate)
    assert found.features["uncertainty"] == pytest.approx(expected([[1.0, 0.0], [0.0, 1.0]], 0.5))
    (request,) = model.written
    expected_request = GenerateRequest(
        model.prompt,
        stop=model.profile.stop,
        max_tokens=20,
        temperature=0.5,
        seed=0,
        n=5,
        hidden_layer=2,
    )
    assert request == expected_request


def test_a_layer_that_the_model_does_not_have_is_refused_before_any_work() -> None:
    gate = gate_of(layer=3)
    with pytest.raises(CapabilityMissing, match="gate seakr reads layer 3, and model .* has 2"):
        gate.check_model(SAMPLED_MODEL)
    gate.check_model(replace(SAMPLED_MODEL, hidden_layers=3))


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("layer", -1, "layer must be a whole number from 0 to 1000, not -1"),
        ("alpha", 0, "alpha must be 1e-09 to 1, not 0"),
        ("samples", 21, "samples must be a whole number from 2 to 20, not 21"),
    ],
)
def test_a_wrong_field_of_a_file_is_refused(field: str, value: object, error: str) -> None:
    with pytest.raises(DataCorrupt, match=error):
        gate_of(**{field: value})
