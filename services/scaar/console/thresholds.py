"""Why the threshold of a word is what it is, in words."""

from collections.abc import Iterable

from scaar.core.text.decimals import decimals_apart
from scaar.core.triggers import TRIGGERS
from scaar.core.types import EffectivePolicy, EvidenceKind, JudgedWord, SettingSource

_SOURCES = {
    SettingSource.PAPER: "from the paper of the method",
    SettingSource.DEFAULT: "the default",
    SettingSource.MODEL: "recommended for the model",
    SettingSource.REQUEST: "from the request",
    SettingSource.GATE: "from the gate",
    SettingSource.ARTEFACT: "tuned",
}
_SAME = 1e-9
"""Difference from theta below which a threshold is theta itself."""


def theta_source(policy: EffectivePolicy) -> str:
    """Return where the value of theta is from; empty for a policy that does not state it."""
    source = dict(policy.sources).get("theta")
    return _SOURCES[source] if source is not None else ""


def threshold_reason(word: JudgedWord, policy: EffectivePolicy) -> str:
    """Return the threshold of a word, with how it follows from theta."""
    if abs(word.threshold - policy.theta) < _SAME:
        return f"the threshold {policy.theta:.3g}{_same_for_all(policy)}"
    theta, threshold = decimals_apart(policy.theta, word.threshold)
    moved = "raised" if word.threshold > policy.theta else "lowered"
    limit = ", its limit," if word.capped and word.threshold < 1 else ""
    return f"its threshold, {moved} from {theta} to {threshold}{limit} because {_why(word, policy)}"


def beyond_reason(word: JudgedWord, policy: EffectivePolicy) -> str:
    """Return why any probability of a word is below its threshold, which is stated as 1."""
    return f"its threshold was raised from {policy.theta:.2f} beyond 1 because {_why(word, policy)}"


def legend_of(words: Iterable[JudgedWord], policy: EffectivePolicy) -> str:
    """Return the thresholds with which the words of a draft were compared, for its legend."""
    thresholds = [word.threshold for word in words]
    if not thresholds or max(abs(threshold - policy.theta) for threshold in thresholds) < _SAME:
        return f"threshold {policy.theta:.3g}{_same_for_all(policy)}"
    source = theta_source(policy)
    theta = f"θ {policy.theta:.3g} ({source})" if source else f"θ {policy.theta:.3g}"
    low, high = f"{min(thresholds):.2f}", f"{max(thresholds):.2f}"
    used = low if low == high else f"{low} to {high}"
    if min(thresholds) < policy.theta - _SAME:
        return f"threshold {used}: {theta} by {_mover(policy)}"
    return f"threshold {used}: {theta} raised by {_mover(policy)}"


def _same_for_all(policy: EffectivePolicy) -> str:
    source = theta_source(policy)
    return f", the same for every word ({source})" if source else ", the same for every word"


def _why(word: JudgedWord, policy: EffectivePolicy) -> str:
    if word.attention is not None and _mover(policy) == "attention":
        return f"later words pay it {word.attention:.2f} times the mean attention"
    if word.contribution is None:
        return "its contribution to the meaning is unknown"
    only = " only" if word.threshold < policy.theta else ""
    return f"the word contributes {word.contribution:.2f}{only} to the meaning"


def _mover(policy: EffectivePolicy) -> str:
    rule = TRIGGERS.get(policy.trigger or "")
    by_attention = rule is not None and EvidenceKind.CONTRIBUTIONS not in rule.needs
    return "attention" if by_attention else "contribution"
