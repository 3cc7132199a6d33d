"""Measures of rankings are those of trec_eval, worked out by hand."""

import math

import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.studies.retrieval.measures import mean, measured, parse_measures
from scaar.evaluator.studies.retrieval.topics import Topic

TOPICS = [
    Topic("q1", "x", {"a": 2, "b": 1, "c": 0}),
    Topic("q2", "y", {"a": 1}),
]
RANKINGS = {"q1": ("c", "a", "d", "b"), "q2": ()}


def test_values_are_worked_out_by_hand() -> None:
    values = measured(["nDCG@10", "AP", "RR@10", "R@2", "P@2"], TOPICS, RANKINGS)
    found = (2 / math.log2(3) + 1 / math.log2(5)) / (2 + 1 / math.log2(3))
    assert values["nDCG@10"]["q1"] == pytest.approx(found)
    assert values["AP"]["q1"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert values["RR@10"]["q1"] == pytest.approx(1 / 2)
    assert values["R@2"]["q1"] == pytest.approx(1 / 2)
    assert values["P@2"]["q1"] == pytest.approx(1 / 2)


def test_a_topic_that_finds_nothing_scores_0_and_stays_in_the_mean() -> None:
    values = measured(["nDCG@10", "RR@10"], TOPICS, RANKINGS)
    assert {name: found["q2"] for name, found in values.items()} == {"nDCG@10": 0, "RR@10": 0}


def test_the_order_of_the_ranking_counts_and_not_that_of_the_ids() -> None:
    # trec_eval sorts equal scores by id, which would put b first.
    values = measured(["RR"], [Topic("q", "x", {"b": 1})], {"q": ("a", "b")})
    assert values["RR"]["q"] == 0.5


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["F1"], "'F1' is not a measure of ir_measures, such as nDCG@10"),
        (["nDCG@x"], "'nDCG@x' is not a measure of ir_measures"),
        (["ERR@10"], "ERR@10 needs a program or a library beside ir_measures"),
        (["P"], "'P' is not a measure of ir_measures"),
        (["AP", "AP"], "has AP twice"),
    ],
)
def test_a_wrong_measure_is_reported(names: list[str], expected: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_measures(names)
    assert caught.value.message.startswith(f"measures: {expected}")


def test_the_mean_has_an_interval_over_topics() -> None:
    found = mean([0.0, 1.0] * 50)
    assert found.value == 0.5
    assert found.low is not None
    assert found.high is not None
    # 1.96 standard errors of a fair coin over 100 topics are 0.098.
    assert found.low == pytest.approx(0.402, abs=0.02)
    assert found.high == pytest.approx(0.598, abs=0.02)
