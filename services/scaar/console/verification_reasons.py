"""Why an answer was looked up again, given or not given, by what no passage read has."""

from scaar.console.reason import Reason
from scaar.core.triggers import TRIGGERS
from scaar.core.types import EffectivePolicy, EvidenceKind, JudgedWord, Moment, SentenceJudged

_SHOWN = 5
"""Largest number of words that a sentence names."""


def is_verification(policy: EffectivePolicy) -> bool:
    """Return whether the trigger of a policy compares an answer with the passages read."""
    rule = TRIGGERS.get(policy.trigger or "")
    return rule is not None and EvidenceKind.SUPPORT in rule.needs


def verification_reason(judged: SentenceJudged, policy: EffectivePolicy) -> Reason:
    """Return what was not found in the passages read, and what follows from it.

    The value of a word that was not found is 1 if it is a number, a name or code, else the share of
    such words in the new words of the draft. That of other words is 0.
    """
    is_whole = Moment.AFTER_ANSWER in policy.moments
    draft = "answer" if is_whole else "draft"
    searched = "It searched again" if is_whole else "It searched"
    kept = "It gave the answer" if is_whole else "It kept the draft"
    if judged.abstains:
        says = f"the {draft} says that the model does not know."
        return Reason(f"{searched}, because {says}" if judged.retrieving else says.capitalize())
    missing = [word for word in judged.words if word.value]
    if not missing:
        return Reason(
            f"{kept}, because no word of it that counts is missing from the passages read."
        )
    words, others = _named(missing)
    if judged.retrieving:
        decision = f"{searched} because"
    elif judged.trigger is None:
        decision = f"{kept}, although"
    elif is_whole:
        decision = "It did not give the answer because"
    else:
        decision = f"{kept}, because the budget of retrievals is used up, although"
    end = _comparison(missing, policy)
    return Reason(
        f"{decision} this was not found in the passages read: ", words, f"{others}. {end}"
    )


def _named(missing: list[JudgedWord]) -> tuple[tuple[str, ...], str]:
    """Return the words that a sentence names, in quotes, and the number of the others."""
    ordered = sorted(missing, key=lambda word: -(word.value or 0.0))
    texts = list(dict.fromkeys(_text(word) for word in ordered))
    more = len(texts) - _SHOWN
    return tuple(texts[:_SHOWN]), f" and {more} more" if more > 0 else ""


def _text(word: JudgedWord) -> str:
    return f"“{word.text.strip('.,:;!?')}”" if word.text else "a word without recorded text"


def _comparison(missing: list[JudgedWord], policy: EffectivePolicy) -> str:
    share = max(word.value or 0.0 for word in missing)
    if share >= 1:
        return (
            f"One number, name or code is enough, or more than {policy.theta:.0%} of the new words."
        )
    relation = "above" if share > policy.theta else "not above"
    return f"That is {share:.0%} of the new words, {relation} the threshold {policy.theta:.0%}."
