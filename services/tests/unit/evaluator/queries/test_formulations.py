import pytest

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.queries import FORMULATIONS
from scaar.evaluator.studies.queries.formulations import (
    NAMES,
    USUAL,
    Exclusion,
    plan_formulations,
    reference_of,
)


def test_pfq_is_evaluated_at_every_alpha_with_every_scorer():
    planned = plan_formulations(["question", "question+pfq"], [25, 50], [None, Control.IDF])
    assert [each.label for each in planned] == [
        "question",
        *("question+pfq:alpha=25", "question+pfq:alpha=25,scorer=idf"),
        *("question+pfq:alpha=50", "question+pfq:alpha=50,scorer=idf"),
    ]
    assert [each.query.include_question for each in planned] == [False, *[True] * 4]
    assert planned[2].by(None) == planned[1]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_a_formulation(name):
    (asking,) = plan_formulations([name], [50], [None])
    assert asking.query.formulation in FORMULATIONS
    assert asking.scored == name.endswith(("pfq", "fused", "bridged"))


def test_every_formulation_is_evaluated_with_every_exclusion() -> None:
    planned = plan_formulations(
        ["question", "fused"], [50], [None, Control.IDF], [Exclusion.NONE, Exclusion.SEEN]
    )
    assert [each.label for each in planned] == [
        *("question", "question:exclude_seen=seen"),
        *("fused:alpha=50", "fused:alpha=50,scorer=idf"),
        "fused:alpha=50,exclude_seen=seen",
        "fused:alpha=50,exclude_seen=seen,scorer=idf",
    ]
    assert planned[-1].by(None) == planned[-2]
    assert planned[-1].excluding(Exclusion.NONE) == planned[3]
    assert planned[-1].name == "fused:alpha=50"


def test_extra_passages_are_read_without_exclusion() -> None:
    planned = plan_formulations(["pfq"], [50], [None], [Exclusion.NONE, Exclusion.SEEN], [2])
    assert [each.label for each in planned][1:] == [
        "pfq:alpha=50,exclude_seen=seen",
        "pfq:alpha=50,extra=2",
    ]
    with pytest.raises(InvalidRequest, match="--extra: must be 1 to 50 each"):
        plan_formulations(["pfq"], [50], [None], [Exclusion.NONE], [0])


@pytest.mark.parametrize(
    ("names", "alphas", "field", "said"),
    [
        (["pfq", "attention"], [50], "--formulations", "'attention'"),
        (["pfq"], [0], "--alpha", "over 0 and at most 100"),
        (["pfq"], [float("nan")], "--alpha", "over 0 and at most 100"),
        (["pfq"], [50, 50], "--formulations", "pfq:alpha=50"),
        (["question", "question"], [50], "--formulations", "question is given twice"),
    ],
)
def test_a_wrong_name_or_value_is_reported(names, alphas, field, said):
    with pytest.raises(InvalidRequest, match=said) as refused:
        plan_formulations(names, alphas, [None])
    assert refused.value.violations[0].field == field


def test_the_others_are_held_against_one_that_is_there():
    planned = plan_formulations(USUAL, [50], [None])
    assert reference_of(planned, None) == "question+current_sentence"
    assert reference_of(planned[:1], None) == "question"
    assert reference_of(planned, "pfq:alpha=50") == "pfq:alpha=50"
    with pytest.raises(InvalidRequest, match="pfq:alpha=50"):
        reference_of(planned, "pfq")
