"""A logistic model over signals of the sentence (:mod:`scaar.core.signals`): P(label) > theta.

    P = 1 / (1 + exp(-(b + sum_i c_i * (x_i - m_i) / s_i)))

x_i are the signals, m_i and s_i their mean and scale in the drafts that the model was fitted to,
c_i the coefficients and b the intercept (:class:`~scaar.core.types.LearnedTrigger`). A model of the
expected benefit of a retrieval has a second P, that of harm, and compares

    (1 + P(benefit) - P(harm)) / 2 > theta

which is at theta 0.5 whether a retrieval is expected to help. The rule is the project's own. The
parameters are those of a policy artefact, and only the evidence that their signals need is
required. With a missing signal, the sentence is uncertain. The trigger is the word with the lowest
probability.
"""

import math
from collections.abc import Mapping, Sequence

from scaar.core.errors import Violation
from scaar.core.evidence.evidence import Evidence
from scaar.core.signals import SIGNALS, evidence_of_signals, signals_of
from scaar.core.triggers.rule import PROBABILITY_ABOVE, Judgement, TriggerRule
from scaar.core.triggers.sentence_threshold import judge, least_probable
from scaar.core.types import EffectivePolicy, LearnedTrigger

NAME = "learned"


def learned_value(learned: LearnedTrigger, signals: Mapping[str, float]) -> float | None:
    """Return what is compared with theta; None where a signal is missing.

    That is the probability of the label, or with a model of harm half of one plus the expected
    benefit.
    """
    if any(name not in signals for name in learned.signal_names):
        return None
    scaled = [
        (signals[name] - mean) / scale
        for name, mean, scale in zip(
            learned.signal_names, learned.means, learned.scales, strict=True
        )
    ]
    likely = _probability(learned.intercept, learned.coefficients, scaled)
    if learned.harm_coefficients is None or learned.harm_intercept is None:
        return likely
    harm = _probability(learned.harm_intercept, learned.harm_coefficients, scaled)
    return (1.0 + likely - harm) / 2.0


def _probability(intercept: float, coefficients: Sequence[float], scaled: Sequence[float]) -> float:
    products = (each * value for each, value in zip(coefficients, scaled, strict=True))
    logit = intercept + math.fsum(products)
    # exp of a large number would overflow.
    odds = math.exp(-abs(logit))
    return 1.0 / (1.0 + odds) if logit >= 0.0 else odds / (1.0 + odds)


def learned_rule(learned: LearnedTrigger) -> TriggerRule:
    """Return the trigger with these parameters."""

    def decide(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
        value = learned_value(learned, signals_of(evidence))
        return judge(evidence, policy, value, weights=least_probable(evidence))

    return TriggerRule(
        decide, PROBABILITY_ABOVE, evidence_of_signals(learned.signal_names), by_word=False
    )


def check_learned(learned: LearnedTrigger | None) -> list[Violation]:
    """Return every violation of the parameters of a policy that judges by them."""
    if learned is None:
        text = f"{NAME} needs the parameters of a tuned policy: name its artefact"
        return [Violation("policy.trigger", text)]
    signals = len(learned.signal_names)
    known = ", ".join(SIGNALS)
    wrong = [
        Violation("policy.learned.signal_names", f"there is no signal {name!r}; known: {known}")
        for name in learned.signal_names
        if name not in SIGNALS
    ]
    if not signals:
        wrong.append(Violation("policy.learned.signal_names", "must not be empty"))
    for field in ("means", "scales", "coefficients", "harm_coefficients"):
        given = getattr(learned, field)
        if given is not None and (count := len(given)) != signals:
            text = f"must have {signals} numbers, one for each signal, not {count}"
            wrong.append(Violation(f"policy.learned.{field}", text))
    if (learned.harm_coefficients is None) != (learned.harm_intercept is None):
        text = "must be given with harm_coefficients, and only with them"
        wrong.append(Violation("policy.learned.harm_intercept", text))
    if not all(scale > 0.0 for scale in learned.scales):
        wrong.append(Violation("policy.learned.scales", "must be above 0"))
    return wrong


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    assert policy.learned is not None
    return learned_rule(policy.learned).judge(evidence, policy)


LEARNED = TriggerRule(_judge, PROBABILITY_ABOVE, frozenset(), by_word=False)
