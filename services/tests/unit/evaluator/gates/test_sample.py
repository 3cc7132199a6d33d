"""The sample of a comparison of gates."""

import numpy as np
import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.studies.gates.sample import clusters, counts_of, sample_of
from tests.unit.evaluator.gates.made import answered, sample_questions


def test_questions_that_share_a_supporting_passage_are_one_cluster() -> None:
    questions = [
        answered(0, "known", supports=("a", "b")),
        answered(1, "known", supports=("c",)),
        answered(2, "known", supports=("d", "b")),
        answered(0, "known", dataset="other", supports=("d",)),
    ]
    assert clusters(questions) == ["made/q0", "made/q1", "made/q0", "made/q0"]


def test_a_sample_counts_its_outcomes_by_set() -> None:
    questions = [*sample_questions(150), *sample_questions(130, dataset="other", seed=1)]
    sample = sample_of(questions)
    assert sample.sets == ("made", "other")
    made = [each for each in questions if each.dataset == "made"]
    counts = counts_of(sample, sample.of("made"))
    assert counts["questions"] == 150
    assert counts["helped"] == counts["wrong"] == sum(each.wrong for each in made)
    assert counts["harmed"] == sum(each.benefit < 0 for each in made)
    assert counts["oracle"] == 1
    # The arrays are in the order of the questions.
    for at, each in enumerate(sample.answered):
        assert sample.questions[at].id == f"{each.dataset}/{each.question.id}"
        assert sample.benefit[at] == each.benefit
        assert bool(sample.wrong[at]) == each.wrong
    assert np.abs(sample.benefit).sum() == sum(each.benefit != 0 for each in questions)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (sample_questions(19), "made must have at least 20 questions, not 19"),
        ([answered(at, "known") for at in range(50)], "20 wrong answers without retrieval, not 0"),
        (
            [answered(at, "known" if at % 2 else "obscure") for at in range(100)],
            "made must have a question that retrieval harmed",
        ),
    ],
)
def test_a_sample_that_gates_cannot_learn_from_is_refused(questions, message) -> None:
    with pytest.raises(InvalidRequest, match=message):
        sample_of(questions)
