"""A logistic model over signals of the sentence (:mod:`scaar.core.signals`): P(label) > theta.

    P = 1 / (1 + exp(-(b + sum_i c_i * (x_i - m_i) / s_i)))

x_i are the signals, m_i and s_i their mean and scale in the drafts that the model was fitted to,
c_i the coefficients and b the intercept (:class:`~scaar.core.types.LearnedTrigger`). The rule is
the project's own. The parameters are those of a policy artefact, and only the evidence that their
signals need is required. With a missing signal, the sentence is uncertain. The trigger is the word
with the lowest probability.
"""

import math
from collections.abc import Mapping

from scaar.core.errors import Violation
from scaar.core.evidence.evidence import Evidence
from scaar.core.signals import SIGNALS, evidence_of_signals, signals_of
from scaar.core.triggers.rule import PROBABILITY_ABOVE, Judgement, TriggerRule
from scaar.core.triggers.sentence_threshold import judge, least_probable
from scaar.core.types import EffectivePolicy, LearnedTrigger

NAME = "learned"


def probability(learned: LearnedTrigger, signals: Mapping[str, float]) -> float | None:
    """Return the probability of the label; None where a signal is missing."""
    logit = learned.intercept
    for name, mean, scale, coefficient in zip(
        learned.signal_names, learned.means, learned.scales, learned.coefficients, strict=True
    ):
        if name not in signals:
            return None
        logit += coefficient * (signals[name] - mean) / scale
    # exp of a large number would overflow.
    odds = math.exp(-abs(logit))
    return 1.0 / (1.0 + odds) if logit >= 0.0 else odds / (1.0 + odds)


def learned_rule(learned: LearnedTrigger) -> TriggerRule:
    """Return the trigger with these parameters."""

    def decide(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
        value = probability(learned, signals_of(evidence))
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
    for field in ("means", "scales", "coefficients"):
        if (count := len(getattr(learned, field))) != signals:
            text = f"must have {signals} numbers, one for each signal, not {count}"
            wrong.append(Violation(f"policy.learned.{field}", text))
    if not all(scale > 0.0 for scale in learned.scales):
        wrong.append(Violation("policy.learned.scales", "must be above 0"))
    return wrong


def _judge(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
    assert policy.learned is not None
    return learned_rule(policy.learned).judge(evidence, policy)


LEARNED = TriggerRule(_judge, PROBABILITY_ABOVE, frozenset(), by_word=False)
