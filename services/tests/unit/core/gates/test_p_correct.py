"""Calibrated P(correct): its signals and curves, its file, and abstention."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import CapabilityMissing, DataCorrupt
from scaar.core.gates import gate_without_file, read_gate
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.p_correct import AnswerSignal, IsotonicCurve, PCorrectGate, PlattCurve
from scaar.core.gates.p_correct_json import p_correct_to_json
from scaar.core.types import Abstention, Token
from scaar.testing.fakes import SAMPLED_MODEL
from scaar.testing.gate_model import ScriptedGateModel

MEAN, LOWEST = AnswerSignal.MEAN_SURPRISAL, AnswerSignal.MIN_PROBABILITY
PLATT, STEPS = PlattCurve(2.0, 1.5), IsotonicCurve((-3.0, -1.0, -0.5), (0.1, 0.4, 0.9))
GATE = PCorrectGate("", FittedModel("lm", "r1"), MEAN, PLATT, 0.4, 0.3, 64)
CONTENT = p_correct_to_json(GATE, learned_from={"data set": "lab"})


def tokens(*logprobs: float | None) -> list[Token]:
    return [Token(0, "a", at, at + 1, logprob) for at, logprob in enumerate(logprobs)]


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=5))
async def test_the_judgement_is_one_minus_the_curve_of_the_signal(logprobs: list[float]) -> None:
    model = ScriptedGateModel(lambda request: [tokens(*logprobs)])
    judged = await GATE.judge("Who?", model)
    mean = sum(logprobs) / len(logprobs)
    p_correct = 1 / (1 + math.exp(-(2.0 * mean + 1.5)))
    assert judged.features == {
        "p_correct": pytest.approx(p_correct),
        "tokens": len(logprobs),
        "signal": pytest.approx(mean),
    }
    assert judged.probability == pytest.approx(1 - p_correct)
    (request,) = model.written
    assert (request.prompt, request.max_tokens) == (model.prompt, 64)
    assert LOWEST.of(logprobs) == min(logprobs)


@pytest.mark.parametrize("logprobs", [[], [-1.0, None], [math.nan]])
async def test_an_answer_with_an_unknown_signal_needs_retrieval(
    logprobs: list[float | None],
) -> None:
    judged = await GATE.judge("Who?", ScriptedGateModel(lambda request: [tokens(*logprobs)]))
    assert judged.probability == 1.0
    assert judged.features == {"p_correct": 0.0, "tokens": float(len(logprobs))}


@pytest.mark.parametrize(
    ("signal", "expected"), [(-9.0, 0.1), (-3.0, 0.1), (-1.5, 0.1), (-1.0, 0.4), (0.0, 0.9)]
)
def test_an_isotonic_curve_has_each_probability_from_its_signal_on(
    signal: float, expected: float
) -> None:
    assert STEPS.probability(signal) == expected


@pytest.mark.parametrize(
    ("few_above", "logprob", "top_k"), [(1.0, 0.0, None), (0.5, -0.7, 2), (0.5, -0.8, None)]
)
async def test_a_rather_certain_answer_needs_few_passages(
    few_above: float, logprob: float, top_k: int | None
) -> None:
    # P(correct) is 0.52 at -0.7, and 0.48 at -0.8.
    gate = replace(GATE, few_above=few_above, few=2)
    judged = await gate.judge("Who?", ScriptedGateModel(lambda request: [tokens(logprob)]))
    assert judged.top_k == top_k


def test_an_answer_abstains_below_the_limit_of_the_file_and_never_without_one() -> None:
    p_correct = GATE.p_correct([-2.0])
    assert p_correct == pytest.approx(1 / (1 + math.exp(2.5)))
    assert GATE.abstention([-2.0]) == Abstention(p_correct, 0.3)
    assert GATE.abstention([-0.1]) is None
    assert replace(GATE, abstain_below=0.0).abstention([None]) is None


@pytest.mark.parametrize("curve", [PLATT, STEPS])
def test_a_file_contains_the_whole_gate(curve: PlattCurve | IsotonicCurve) -> None:
    gate = replace(GATE, curve=curve, signal=LOWEST, few_above=0.3, few=2)
    read = read_gate(p_correct_to_json(gate, learned_from={}), "gate.json")
    assert read == replace(gate, revision=read.revision)
    assert gate_without_file("p_correct") is None


def test_another_model_is_refused() -> None:
    GATE.check_model(replace(SAMPLED_MODEL, model="lm", revision="r1"))
    with pytest.raises(CapabilityMissing, match="gate p_correct was fitted to model lm"):
        GATE.check_model(replace(SAMPLED_MODEL, model="lm", revision="r2"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signal": "entropy"}, "signal must be one of mean_surprisal, min_probability, not"),
        ({"abstain_below": 1.5}, "abstain_below must be 0 to 1, not 1.5"),
        ({"model": None}, "model must be a string, not None"),
        ({"curve": 3}, "curve: must be a JSON object"),
        ({"curve": {"kind": "cubic"}}, "curve: kind must be platt or isotonic, not 'cubic'"),
        (
            {"curve": {"kind": "platt", "slope": -1, "intercept": 0}},
            "curve: slope must be at least 0, not -1",
        ),
        (
            {"curve": {"kind": "isotonic", "signals": [], "probabilities": []}},
            "curve: signals and probabilities must have as many numbers, from 1",
        ),
        (
            {"curve": {"kind": "isotonic", "signals": [-1, -1], "probabilities": [0, 1]}},
            "curve: signals must rise",
        ),
        (
            {"curve": {"kind": "isotonic", "signals": [-2, -1], "probabilities": [0.5, 0.4]}},
            "curve: probabilities must rise from 0 to 1",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_the_wrong_field(
    change: dict[str, object], message: str
) -> None:
    document = json.loads(CONTENT) | change
    with pytest.raises(DataCorrupt, match=message):
        read_gate(json.dumps(document).encode(), "gate.json")


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000])
def test_a_file_that_is_not_json_is_refused(content: bytes) -> None:
    with pytest.raises(DataCorrupt, match=r"^gate.json: is not JSON"):
        read_gate(content, "gate.json")
