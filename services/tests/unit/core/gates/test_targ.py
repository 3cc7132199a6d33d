"""TARG's three uncertainties of a draft, recomputed from their equations."""

import json
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt
from scaar.core.gates import GateJudgement, gate_without_file, read_gate
from scaar.core.types import GenerateRequest, Token, TopToken
from scaar.testing.gate_model import ScriptedGateModel

PROMPT = "Question: Who?\nAnswer:"


def token(text: str, *, gap: float | None = None, entropy: float | None = None) -> Token:
    top = () if gap is None else (TopToken(1, text, -0.1), TopToken(2, "x", -0.1 - gap))
    return Token(0, text, 0, len(text), -0.1, entropy, top)


async def judged(
    name: str, *drafts: Sequence[Token], **fields: object
) -> tuple[GateJudgement, GenerateRequest]:
    """Return the judgement of the drafts, and the request for them."""
    gate = read_gate(json.dumps({"format": 1, "gate": name, **fields}).encode(), "gate.json")
    model = ScriptedGateModel(lambda request: drafts)
    found = await gate.judge("Who?", model)
    (request,) = model.written
    return found, request


@given(gaps=st.lists(st.floats(0, 50), min_size=1, max_size=20), beta=st.floats(0.1, 10))
async def test_the_margin_is_the_mean_link_of_the_gaps(gaps: list[float], beta: float) -> None:
    found, request = await judged("targ", [token("a", gap=each) for each in gaps], beta=beta)
    expected = sum(math.exp(-each / beta) for each in gaps) / len(gaps)
    assert found.probability == pytest.approx(expected)
    assert found.features == {"uncertainty": found.probability, "tokens": len(gaps)}
    assert request == GenerateRequest(PROMPT, max_tokens=20, stop=("\nQuestion:",), top_tokens=2)


async def test_an_unknown_gap_is_no_gap() -> None:
    found, _ = await judged("targ", [token("a", gap=2.0), token("b")])
    assert found.probability == pytest.approx((math.exp(-2) + 1) / 2)


@given(entropies=st.lists(st.floats(0, 20), min_size=1, max_size=20))
async def test_the_entropy_is_the_mean_in_nats_and_the_judgement_keeps_its_order(
    entropies: list[float],
) -> None:
    found, request = await judged("targ_entropy", [token("a", entropy=h) for h in entropies])
    mean = sum(entropies) / len(entropies)
    assert found.features["uncertainty"] == pytest.approx(mean)
    assert found.probability == pytest.approx(1 - math.exp(-mean))
    assert (request.top_tokens, request.n) == (0, 1)


async def test_an_unknown_entropy_needs_retrieval() -> None:
    found, _ = await judged("targ_entropy", [token("a", entropy=0.1), token("b")])
    assert found.probability == 1.0


async def test_the_variance_is_the_mean_share_outside_the_mode() -> None:
    drafts = [[token(each) for each in words] for words in ("abc", "abx", "ae")]
    found, request = await judged("targ_variance", *drafts, tokens=3)
    # a a a, b b e, and c x and the end of the third draft.
    assert found.probability == pytest.approx((0 + 1 / 3 + 2 / 3) / 3)
    assert found.features == {"uncertainty": found.probability, "tokens": 8.0}
    sampling = (request.n, request.temperature, request.seed, request.max_tokens)
    assert sampling == (3, 0.7, 0, 3)


@given(
    st.integers(2, 8).flatmap(
        lambda n: st.lists(
            st.text("ab", min_size=1, max_size=9).map(lambda text: [token(each) for each in text]),
            min_size=n,
            max_size=n,
        )
    )
)
async def test_the_variance_is_at_most_the_share_of_all_drafts_but_one(
    drafts: list[list[Token]],
) -> None:
    found, _ = await judged("targ_variance", *drafts, samples=len(drafts))
    assert 0 <= found.probability <= (len(drafts) - 1) / len(drafts) + 1e-9


@pytest.mark.parametrize("name", ["targ", "targ_entropy", "targ_variance"])
async def test_a_draft_without_tokens_needs_retrieval(name: str) -> None:
    found, _ = await judged(name, [], [], [])
    assert (found.probability, found.features) == (1.0, {"tokens": 0.0})


@pytest.mark.parametrize(
    ("name", "field", "value", "message"),
    [
        ("targ", "beta", 0, "beta must be 0.01 to 100, not 0"),
        ("targ", "tokens", 2.5, "tokens must be a whole number from 1 to 256, not 2.5"),
        ("targ", "threshold", 2, r"threshold must be in \(0, 1\], not 2"),
        ("targ_variance", "samples", 1, "samples must be a whole number from 2 to 20, not 1"),
        ("lexsim", "temperature", 3, "temperature must be 0.01 to 2, not 3"),
        ("lexsim", "tokens", "many", "tokens must be a number, not 'many'"),
        ("p_true", "tokens", 0, "tokens must be a whole number from 1 to 256, not 0"),
        ("verbalised", "threshold", 0, r"threshold must be in \(0, 1\], not 0"),
    ],
)
def test_an_invalid_field_of_a_file_is_named(
    name: str, field: str, value: object, message: str
) -> None:
    content = json.dumps({"format": 1, "gate": name, field: value}).encode()
    with pytest.raises(DataCorrupt, match=message):
        read_gate(content, "gate.json")


def test_only_gates_without_learned_parameters_need_no_file() -> None:
    gate = gate_without_file("targ")
    assert gate is not None
    assert (gate.name, gate.revision, gate.threshold) == ("targ", "", 0.2)
    assert gate_without_file("gece_proxy") is None
    assert gate_without_file("skr") is None
    assert gate_without_file("adaptive_rag") is None
