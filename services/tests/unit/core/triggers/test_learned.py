"""The trigger by a logistic model over signals."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.evidence import Evidence
from scaar.core.policies.checks import check_policy
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.requirements import capabilities, judging_evidence, needs_scorer
from scaar.core.signals import signals_of
from scaar.core.text.words import split_words
from scaar.core.triggers import TRIGGERS, Judgement
from scaar.core.triggers.learned import learned_rule, learned_value
from scaar.core.types import (
    Capability,
    EvidenceKind,
    LearnedTrigger,
    PolicyOverrides,
    PolicyRequest,
    Token,
)
from scaar.testing.fakes import SCRIPTED_MODEL

LEARNED = LearnedTrigger(
    signal_names=("surprisal_max", "words"),
    means=(1.0, 2.0),
    scales=(0.5, 4.0),
    coefficients=(2.0, -1.0),
    intercept=0.25,
    label="wrong",
)


def request(learned: LearnedTrigger | None = LEARNED, **overrides: object) -> PolicyRequest:
    given = {"trigger": "learned", **overrides}
    return PolicyRequest("flare", PolicyOverrides(**given), learned=learned)  # type: ignore[arg-type]


def evidence(*surprisals: float | None) -> Evidence:
    words = split_words(" ".join("abcdefgh"[: len(surprisals)]))
    tokens = [
        Token(0, word.text, word.start, word.end, None if surprisal is None else -surprisal)
        for word, surprisal in zip(words, surprisals, strict=True)
    ]
    return Evidence(words, tuple(tokens))


def judged(drafted: Evidence, theta: float = 0.5) -> Judgement:
    policy = effective_policy(request(theta=theta), SCRIPTED_MODEL)
    return TRIGGERS["learned"].judge(drafted, policy)


@given(st.lists(st.floats(0.0, 50.0), min_size=1, max_size=8))
def test_the_value_is_the_logistic_function_of_the_standardised_signals(
    surprisals: list[float],
) -> None:
    logit = 0.25 + 2.0 * (max(surprisals) - 1.0) / 0.5 - (len(surprisals) - 2.0) / 4.0
    expected = 1.0 / (1.0 + math.exp(-logit))
    assert learned_value(LEARNED, signals_of(evidence(*surprisals))) == pytest.approx(expected)
    found = judged(evidence(*surprisals))
    assert found.score == pytest.approx(expected)
    assert (found.trigger is not None) == (expected > 0.5)


@pytest.mark.parametrize(("coefficient", "expected"), [(1e6, 1.0), (-1e6, 0.0)])
def test_no_logit_is_too_large(coefficient: float, expected: float) -> None:
    extreme = replace(LEARNED, coefficients=(coefficient, 0.0))
    assert learned_value(extreme, signals_of(evidence(100.0))) == expected


@pytest.mark.parametrize(("harm", "expected"), [(-50.0, 0.75), (0.0, 0.5), (50.0, 0.25)])
def test_a_model_of_harm_makes_the_value_half_of_one_plus_the_expected_benefit(
    harm: float, expected: float
) -> None:
    even = replace(LEARNED, coefficients=(0.0, 0.0), intercept=0.0)
    compared = replace(even, harm_coefficients=(0.0, 0.0), harm_intercept=harm)
    assert learned_value(compared, signals_of(evidence(1.0))) == pytest.approx(expected)
    found = learned_rule(compared).judge(
        evidence(0.1, 3.0), replace(effective_policy(request(), SCRIPTED_MODEL), theta=0.5)
    )
    assert (found.trigger is not None) == (expected > 0.5)


def test_the_trigger_is_the_least_probable_word() -> None:
    found = judged(evidence(0.1, 3.0, 2.0))
    assert found.trigger == 1
    assert not any(word.uncertain for word in found.words)
    assert {word.threshold for word in found.words} == {0.5}


def test_a_sentence_without_a_signal_is_uncertain() -> None:
    found = judged(evidence(0.1, None))
    assert (found.trigger, found.score) == (1, None)


def test_a_rule_of_parameters_judges_as_the_trigger_does() -> None:
    policy = effective_policy(request(), SCRIPTED_MODEL)
    drafted = evidence(0.1, 3.0)
    assert learned_rule(LEARNED).judge(drafted, replace(policy, learned=None)) == judged(drafted)


def test_the_policy_needs_the_evidence_of_its_signals_only() -> None:
    black_box = effective_policy(request(), SCRIPTED_MODEL)
    assert judging_evidence(black_box) == {EvidenceKind.PROBABILITIES}
    assert capabilities(black_box) == {Capability.LOGPROBS}
    assert not needs_scorer(request())
    more = replace(LEARNED, signal_names=("entropy_max", "weighted_surprisal"))
    white_box = effective_policy(request(more), SCRIPTED_MODEL)
    assert capabilities(white_box) == {Capability.LOGPROBS, Capability.ENTROPY}
    assert EvidenceKind.CONTRIBUTIONS in judging_evidence(white_box)
    assert needs_scorer(request(more))


def violations(wrong: PolicyRequest) -> list[str]:
    return [f"{each.field}: {each.description}" for each in check_policy(wrong)]


def test_a_policy_with_its_parameters_is_valid() -> None:
    assert violations(request()) == []


def test_the_trigger_without_its_parameters_is_refused() -> None:
    (violation,) = violations(request(None))
    assert violation == (
        "policy.trigger: learned needs the parameters of a tuned policy: name its artefact"
    )


def test_parameters_of_another_trigger_are_refused() -> None:
    (violation,) = violations(PolicyRequest("flare", learned=LEARNED))
    assert violation.startswith("policy.learned: needs the trigger learned")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (replace(LEARNED, signal_names=("surprisal_max", "mood")), "signal_names"),
        (replace(LEARNED, means=(1.0,)), "means"),
        (replace(LEARNED, scales=(1.0, 0.0)), "scales"),
        (replace(LEARNED, coefficients=(1.0, 2.0, 3.0)), "coefficients"),
        (replace(LEARNED, harm_coefficients=(1.0,), harm_intercept=0.0), "harm_coefficients"),
        (replace(LEARNED, harm_coefficients=(1.0, 2.0)), "harm_intercept"),
        (replace(LEARNED, harm_intercept=1.0), "harm_intercept"),
    ],
)
def test_wrong_parameters_are_named(wrong: LearnedTrigger, field: str) -> None:
    (violation,) = violations(request(wrong))
    assert violation.startswith(f"policy.learned.{field}: ")
