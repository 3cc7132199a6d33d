from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Question
from scaar.evaluator.statistics.detection import auroc
from scaar.evaluator.studies.longtail.detection import BY, detection, precision_at, tail_of
from scaar.evaluator.studies.longtail.records import Label, Parts

QUESTIONS = tuple(
    Question(
        f"q{at}", "Who?", ("Ada",), f"e{at % 5}", (("popularity", "tail" if at < 4 else "head"),)
    )
    for at in range(10)
)
LABEL = Label(
    *("q", "Who?", "Ada", "Ada", Parts(0.5, 0.5, 0.1, 1.0), 0.5, 0.1, 0.1, 1.0),
    rank=1,
    long_tail=True,
    without_statistics=1,
    without_semantics=1,
)


def test_precision_and_auroc_are_those_worked_by_hand() -> None:
    scores, truths = np.array([5.0, 4, 3, 2, 1]), np.array([True, False, True, False, False])
    assert precision_at(scores, truths, 0.2) == 1.0
    assert precision_at(scores, truths, 0.4) == 0.5
    # Of the pairs of tail and head, (5, 4), (5, 2), (5, 1), (3, 2), (3, 1) are in order of six.
    assert auroc(scores, truths) == pytest.approx(5 / 6)


def test_what_ties_counts_alike() -> None:
    truths = np.array([True, True, False, False])
    assert precision_at(np.zeros(4), truths, 0.25) == 0.5
    assert auroc(np.zeros(4), truths) == 0.5


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auroc_is_the_share_of_pairs_in_order(given_: list[tuple[int, bool]]) -> None:
    positive = [score for score, truth in given_ if truth]
    negative = [score for score, truth in given_ if not truth]
    if not positive or not negative:
        return
    pairs = [(one > other) + (one == other) / 2 for one in positive for other in negative]
    scores = np.array([float(score) for score, _ in given_])
    assert auroc(scores, np.array([truth for _, truth in given_])) == pytest.approx(
        sum(pairs) / len(pairs)
    )


def test_an_order_that_puts_the_tail_first_finds_all_of_it() -> None:
    labels = [
        replace(
            LABEL,
            question_id=each.id,
            rank=at + 1,
            without_statistics=10 - at,
            without_semantics=at + 1,
        )
        for at, each in enumerate(QUESTIONS)
    ]
    found = {
        each.by: each
        for each in detection(labels, QUESTIONS, tail_of(QUESTIONS, "popularity=tail"), share=0.2)
    }
    assert list(found) == list(BY)
    assert (found["gece"].precision.value, found["gece"].auroc.value) == (1.0, 1.0)
    assert found["without_statistics"].auroc.value == 0.0
    for each in found.values():
        for bounded in (each.precision, each.auroc):
            assert 0 <= bounded.low <= bounded.high <= 1


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ("popularity", "must be LABEL=VALUE"),
        ("=tail", "must be LABEL=VALUE"),
        ("fame=tail", "q0 has no label 'fame'; it has popularity"),
        ("popularity=rare", "no question is in the tail"),
        ("popularity=head,tail", "every question is in the tail"),
    ],
)
def test_an_unknown_tail_is_refused(tail: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=f"--tail: .*{message}"):
        tail_of(QUESTIONS, tail)
