"""Silver labels and the fit of a router: which policy suffices is written in the question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Prediction, Question
from scaar.evaluator.results import Results
from scaar.evaluator.studies.routing import (
    Example,
    bias_of,
    fit_router,
    model_of,
    silver_examples,
)
from scaar.testing.gate_model import NO_MODEL

from .simulated import NOTHING_SPENT, evaluation_of, setting

POLICIES = ("no_retrieval", "single_round", "ircot")
SUFFICES = {"easy": "no_retrieval", "medium": "single_round", "hard": "ircot"}
RETRIEVALS = {"no_retrieval": 0, "single_round": 1, "ircot": 3}
QUESTIONS = tuple(
    Question(f"q{at}", f"Who is {('easy', 'medium', 'hard')[at % 3]} {at}?", ("Ada",), f"e{at}")
    for at in range(120)
)


def results(right: Mapping[str, Sequence[str]], *, dataset: str = "nq") -> Results:
    """The results of all questions, answered correctly by the policies named for each id."""
    predictions = tuple(
        Prediction(
            policy,
            question.id,
            "Ada" if policy in right[question.id] else "Grace",
            "",
            replace(NOTHING_SPENT, retrievals=RETRIEVALS[policy]),
        )
        for question in QUESTIONS
        for policy in POLICIES
    )
    settings = tuple(setting(each) for each in POLICIES)
    evaluation = evaluation_of(QUESTIONS, settings)
    origin = replace(evaluation.dataset, name=dataset)
    return Results(replace(evaluation, dataset=origin), QUESTIONS, predictions)


def by_word(dataset: str = "nq") -> Results:
    """Results in which the policy of the question's word and every more complex one is right."""
    found = {}
    for each in QUESTIONS:
        simplest = POLICIES.index(SUFFICES[each.question.split()[2]])
        found[each.id] = POLICIES[simplest:]
    return results(found, dataset=dataset)


def examples(found: Results, bias: str | None = None) -> list[Example]:
    return list(silver_examples(found, POLICIES, measure="exact_match", bias=bias))


def test_the_label_is_the_simplest_policy_that_is_right() -> None:
    assert [each.label for each in examples(by_word())[:3]] == list(POLICIES)
    right = {each.id: ("ircot", "no_retrieval") for each in QUESTIONS}
    assert {each.label for each in examples(results(right))} == {"no_retrieval"}


@pytest.mark.parametrize(
    ("dataset", "bias", "label"),
    [
        ("nq", None, "single_round"),
        ("hotpotqa", None, "ircot"),
        ("hotpotqa", "no_retrieval", "no_retrieval"),
    ],
)
def test_a_question_that_none_answers_has_the_bias_of_its_data_set(
    dataset: str, bias: str | None, label: str
) -> None:
    found = examples(results({each.id: () for each in QUESTIONS}, dataset=dataset), bias)
    assert {(each.label, each.answered) for each in found} == {(label, False)}
    assert bias_of("nq", ("no_retrieval", "flare")) == "flare"


async def test_a_router_learns_the_words_that_tell_what_suffices() -> None:
    fitted = fit_router(examples(by_word()), POLICIES, model="lm", measure="exact_match", seed=0)
    for word, policy in SUFFICES.items():
        assert (await fitted.router.judge(f"Who is {word} 999?", NO_MODEL)).policy == policy
    assert fitted.development + fitted.test == 120
    assert (fitted.unanswered, fitted.accuracy) == (0, 1.0)
    outcomes = {each.chooser: each for each in fitted.outcomes}
    assert list(outcomes) == [*POLICIES, "adaptive_rag", "silver labels"]
    assert outcomes["adaptive_rag"].quality == outcomes["ircot"].quality == 1.0
    assert outcomes["adaptive_rag"].retrievals < outcomes["ircot"].retrievals == 3.0
    assert sum(outcomes["adaptive_rag"].chosen.values()) == pytest.approx(1)


def test_results_that_teach_nothing_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="policies: flare is not among the evaluated setting"):
        list(silver_examples(by_word(), ("no_retrieval", "flare"), measure="exact_match"))
    with pytest.raises(InvalidRequest, match="measure: there is no measure 'luck'"):
        list(silver_examples(by_word(), POLICIES, measure="luck"))
    half = Results(by_word().evaluation, QUESTIONS, by_word().predictions[:10])
    with pytest.raises(InvalidRequest, match="DIR: lacks 350 predictions: finish it first"):
        examples(half)
    everywhere = examples(results({each.id: POLICIES for each in QUESTIONS}))
    with pytest.raises(InvalidRequest, match="no.* of the development .* labelled single_round"):
        fit_router(everywhere, POLICIES, model="lm", measure="exact_match", seed=0)


def test_evaluations_of_several_models_are_refused() -> None:
    assert model_of([by_word()]) == "lab-lm"
