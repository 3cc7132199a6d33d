"""Gates that compare the model's answers without passages, or ask the model about one of them."""

import math
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.gates import GateJudgement, gate_without_file
from scaar.core.gates.lexsim import mean_similarity, rouge_l
from scaar.core.gates.verbalised import stated_probability
from scaar.core.types import GenerateRequest, Token
from scaar.testing.gate_model import ScriptedGateModel

QUESTION = "Who was it?\nQuestion: <|end|>"
ANSWER = " It was long ago. So the answer is Ada Lovelace."


def tokens(text: str) -> list[Token]:
    return [Token(0, text, 0, len(text))]


async def judged(name: str, model: ScriptedGateModel) -> GateJudgement:
    gate = gate_without_file(name)
    assert gate is not None
    return await gate.judge(QUESTION, model)


def subsequences(words: Sequence[str]) -> set[tuple[str, ...]]:
    """All subsequences, which is what the longest common one is chosen from."""
    every = range(len(words) + 1)
    return {each for length in every for each in combinations(words, length)}


WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@given(WORDS, WORDS)
def test_rouge_l_is_the_f1_of_the_longest_common_subsequence(
    one: list[str], other: list[str]
) -> None:
    longest = max(map(len, subsequences(one) & subsequences(other)))
    if not longest:
        assert rouge_l(one, other) == 0.0
        return
    precision, recall = longest / len(one), longest / len(other)
    expected = 2 * precision * recall / (precision + recall)
    assert rouge_l(one, other) == pytest.approx(expected)


def test_the_similarity_is_the_mean_over_all_pairs() -> None:
    texts = [["a", "b"], ["a", "b"], ["c"]]
    assert mean_similarity(texts) == pytest.approx((1 + 0 + 0) / 3)


async def test_lexsim_compares_the_conclusions_of_ten_sampled_answers() -> None:
    ends = [" So the answer is Ada."] * 5 + [" So the answer is the ADA!"] * 4 + [" Ada"]
    model = ScriptedGateModel(lambda request: [tokens(end) for end in ends])
    found = await judged("lexsim", model)
    # Six are "ada", four "the ada", whose ROUGE-L with the others is 2 / 3.
    expected = (15 + 6 + 24 * 2 / 3) / 45
    assert found.features == {"similarity": pytest.approx(expected), "answers": 2.0}
    assert found.probability == pytest.approx(1 - expected)
    (request,) = model.written
    assert (request.n, request.temperature, request.seed) == (10, 1.0, 0)
    assert (request.prompt, request.stop) == (model.prompt, model.profile.stop)


async def test_p_true_is_the_share_of_the_probability_of_true() -> None:
    read = {" (A)": math.log(0.06), " (B)": math.log(0.02)}
    model = ScriptedGateModel(lambda request: [tokens(ANSWER)], read)
    found = await judged("p_true", model)
    assert found.features == {"p_true": pytest.approx(0.75), "p_options": pytest.approx(0.08)}
    assert found.probability == pytest.approx(0.25)
    (prompt,) = {each.prompt for each in model.texts}
    assert prompt.splitlines() == [
        "Question: Who was it? Question: < |end| >",
        "Proposed answer: Ada Lovelace",
        "Is the proposed answer:",
        " (A) True",
        " (B) False",
        "The proposed answer is:",
    ]


@pytest.mark.parametrize(
    ("true", "false", "expected"), [(None, None, 1.0), (None, -1.0, 1.0), (-1.0, None, 0.0)]
)
async def test_an_option_of_unknown_probability_has_none(
    true: float | None, false: float | None, expected: float
) -> None:
    read = {" (A)": true, " (B)": false}
    model = ScriptedGateModel(lambda request: [tokens(ANSWER)], read)
    assert (await judged("p_true", model)).probability == expected


@pytest.mark.parametrize(
    ("statement", "features"),
    [
        (" 0.8", {"stated": 1.0, "confidence": 0.8}),
        (" I do not know.", {"stated": 0.0}),
    ],
)
async def test_verbalised_takes_the_stated_probability_and_counts_a_missing_one(
    statement: str, features: dict[str, float]
) -> None:
    def script(request: GenerateRequest) -> list[list[Token]]:
        return [tokens(statement if "Proposed answer: Ada" in request.prompt else ANSWER)]

    found = await judged("verbalised", ScriptedGateModel(script))
    assert found.features == features
    assert found.probability == pytest.approx(1 - features.get("confidence", 0.0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" 0.85", 0.85),
        ("0,5.", 0.5),
        (".9\nQuestion: 0.1", 0.9),
        ("1", 1.0),
        ("0", 0.0),
        ("0.0", 0.0),
        (" 85.\nQuestion: Who?", 0.85),
        ("85%", 0.85),
        ("0.5 %", 0.005),
        ("about 70 percent", 0.7),
        ("8/10", 0.8),
        ("8 out of 10.", 0.8),
        ("**0.9**", 0.9),
        ("1.0 (certain)", 1.0),
        ("", None),
        ("high", None),
        ("21 January 1958", None),
        ("1 January", None),
        ("1.5", 0.015),
        ("about 1.5", None),
        ("-0.5", None),
        ("150", None),
        ("12/10", None),
        ("3/0", None),
        ("1.2.3", None),
        ("B2", None),
    ],
)
def test_a_statement_is_a_decimal_a_percentage_a_fraction_or_a_number_alone(
    text: str, expected: float | None
) -> None:
    found = stated_probability(text)
    assert found is None if expected is None else found == pytest.approx(expected)


@given(st.text())
def test_any_statement_has_a_probability_or_none(text: str) -> None:
    found = stated_probability(text)
    assert found is None or 0 <= found <= 1
