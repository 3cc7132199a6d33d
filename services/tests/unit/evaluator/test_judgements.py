"""The judgements of gates in evaluations: what they detect and reach, and thresholds by budget."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.core.types import GateJudged
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import Results
from scaar.evaluator.studies.judgements import fit_threshold, rows_of

from .simulated import NOTHING_SPENT, evaluation_of, setting

GATED = setting("single_round", gate="targ")
SETTINGS = (setting("no_retrieval"), setting("single_round"), GATED)
WRONG, RIGHT = "Grace", "Ada"
ANSWERS = [(WRONG, RIGHT)] * 3 + [(WRONG, WRONG), (RIGHT, WRONG)] + [(RIGHT, RIGHT)] * 3
"""The answers without and with retrieval."""
JUDGEMENTS = (0.9, 0.8, 0.2, 0.7, 0.6, 0.2, 0.1, 0.1)
THRESHOLD = 0.65


def results_of(
    judgements: Sequence[float] = JUDGEMENTS, answers: Sequence[tuple[str, str]] = ANSWERS
) -> Results:
    questions = tuple(Question(f"q{at}", "Who?", (RIGHT,), f"e{at}") for at in range(len(answers)))
    predictions = []
    for question, judgement, pair in zip(questions, judgements, answers, strict=True):
        retrieves = judgement >= THRESHOLD
        policy = "single_round" if retrieves else "no_retrieval"
        judged = GateJudged("targ", policy, judgement, THRESHOLD, {})
        spent = [replace(NOTHING_SPENT, retrievals=at, searches=at) for at in (0, 1)]
        predictions += [
            *(
                Prediction(each.label, question.id, pair[at], "", spent[at])
                for at, each in enumerate(SETTINGS[:2])
            ),
            Prediction(
                GATED.label,
                question.id,
                pair[retrieves],
                "",
                replace(spent[retrieves], llm_calls=2, generated_tokens=30),
                gate=judged,
            ),
        ]
    return Results(evaluation_of(questions, SETTINGS), questions, tuple(predictions))


def test_a_gate_is_compared_with_no_every_and_a_random_retrieval_and_the_oracle() -> None:
    never, always, oracle, gate = rows_of([results_of()])
    # Right: four without, six with retrieval, seven by the better answer.
    assert [each.f1.value for each in (never, always, oracle)] == [4 / 8, 6 / 8, 7 / 8]
    assert [each.searches for each in (never, always, oracle)] == [0.0, 1.0, 3 / 8]
    # The gate retrieves for q0, q1 and q3, of which retrieval helps two.
    assert (gate.label, gate.f1.value, gate.retrieved) == (GATED.label, 6 / 8, 3 / 8)
    assert gate.random == pytest.approx(4 / 8 + 3 / 8 * (6 / 8 - 4 / 8))
    assert gate.gain.value == pytest.approx(6 / 8 - gate.random)
    assert (gate.searches, gate.calls, gate.tokens) == (3 / 8, 2.0, 30.0)
    wrong, right = JUDGEMENTS[:4], JUDGEMENTS[4:]
    wins = [1.0 if w > r else 0.5 if w == r else 0.0 for w in wrong for r in right]
    assert gate.auroc.value == pytest.approx(sum(wins) / len(wins))
    assert gate.auroc.low is not None
    assert never.auroc.value is None
    assert never.gain.value == always.gain.value == pytest.approx(0.0)


def test_evaluations_of_the_same_questions_are_compared_and_of_others_refused() -> None:
    first, other = results_of(), results_of(JUDGEMENTS[::-1])
    rows = rows_of([first, other])
    assert [each.label for each in rows[3:]] == [GATED.label] * 2
    assert rows[3] != rows[4]
    origin = replace(other.evaluation.dataset, checksum="cd" * 32)
    moved = replace(other, evaluation=replace(other.evaluation, dataset=origin))
    with pytest.raises(InvalidRequest, match="DIR: the evaluations must be of the same questions"):
        rows_of([first, moved])


def test_a_missing_judgement_is_refused() -> None:
    made = results_of()
    without = tuple(replace(each, gate=None) for each in made.predictions)
    with pytest.raises(InvalidRequest, match="gate=targ has no judgement of 8 questions"):
        rows_of([replace(made, predictions=without)])


@given(
    st.lists(st.sampled_from([at / 8 for at in range(9)]), min_size=1, max_size=30),
    st.integers(1, 99),
)
def test_the_threshold_is_just_above_the_quantile_of_the_budget(
    judgements: list[float], percent: int
) -> None:
    made = results_of(judgements, [ANSWERS[0]] * len(judgements))
    fitted = fit_threshold(made, "targ", budget=percent / 100)
    kept = Fraction(100 - percent, 100)

    def distribution(value: float) -> Fraction:
        return Fraction(sum(each <= value for each in judgements), len(judgements))

    tau = min(each for each in judgements if distribution(each) >= kept)
    retrieved = [each for each in judgements if each >= fitted.threshold]
    if tau < 1:
        assert retrieved == [each for each in judgements if each > tau]
        assert len(retrieved) <= len(judgements) * percent / 100
    assert 0 < fitted.threshold <= 1
    assert fitted.retrieved == len(retrieved) / len(judgements)


def test_a_gate_that_was_not_evaluated_has_no_threshold() -> None:
    with pytest.raises(InvalidRequest, match="DIR: the evaluation has no setting with the gate p"):
        fit_threshold(results_of(), "p_true", budget=0.5)


def test_a_router_has_no_threshold_to_fit() -> None:
    with pytest.raises(InvalidRequest, match="--gate: adaptive_rag has no threshold: it chooses"):
        fit_threshold(results_of(), "adaptive_rag", budget=0.5)
