"""Why the draft of a sentence was searched for, or kept, by the word and the numbers."""

from scaar.console.reason import Reason
from scaar.console.thresholds import beyond_reason, threshold_reason
from scaar.console.verification_reasons import is_verification, verification_reason
from scaar.core.text.decimals import decimals_apart
from scaar.core.triggers import TRIGGERS
from scaar.core.types import EffectivePolicy, JudgedWord, SentenceJudged

_USED_UP = " The budget of retrievals is used up: the draft was kept."


def judgement_reason(judged: SentenceJudged, policy: EffectivePolicy) -> Reason:
    """Return why the draft of a sentence was searched for, or kept."""
    if is_verification(policy):
        return verification_reason(judged, policy)
    if judged.abstains:
        if judged.retrieving:
            return Reason(
                "It searched with the question, because the draft says that the model does not "
                "know."
            )
        return Reason(f"The draft says that the model does not know.{_USED_UP}")
    if judged.trigger is None or judged.trigger >= len(judged.words):
        return _kept(judged, policy)
    word = judged.words[judged.trigger]
    name = _name(judged, judged.trigger)
    if not _by_word(policy) and not word.uncertain:
        return _of_sentence(judged, word, name, policy)
    start = "It searched because " if judged.retrieving else "Uncertain: "
    end = "." if judged.retrieving else f".{_USED_UP}"
    return Reason(start, (name,), f" {_comparison(word, policy)}{end}")


def _kept(judged: SentenceJudged, policy: EffectivePolicy) -> Reason:
    if judged.retrieving:
        return Reason("It searched because the draft is uncertain.")
    if not judged.words:
        return Reason("It kept the draft, which has no word to judge.")
    if not _by_word(policy):
        value = judged.words[0].value
        if value is None:
            return Reason("It kept the draft: no word is uncertain.")
        shown, threshold = decimals_apart(value, policy.theta)
        return Reason(
            f"It kept the draft, because the sentence has the value {shown} by the trigger "
            f"{policy.trigger}, not above the threshold {threshold}."
        )
    margins = {at: _margin(word) for at, word in enumerate(judged.words)}
    # A stop word that the trigger spares may be beyond its threshold.
    at = min((at for at in margins if margins[at] >= 0), key=margins.__getitem__, default=None)
    if at is None:
        return Reason("It kept the draft, because no word that the trigger judges is uncertain.")
    word = judged.words[at]
    value = (word.probability if word.value is None else word.value) or 0.0
    shown, threshold = decimals_apart(value, word.threshold)
    relation = "not below" if word.value is None else "not above"
    name = "probability" if word.value is None else "the value"
    return Reason(
        "It kept the draft, because no word is uncertain: the closest, ",
        (_name(judged, at),),
        f", has {name} {shown}, {relation} its threshold {threshold}.",
    )


def _of_sentence(
    judged: SentenceJudged, word: JudgedWord, name: str, policy: EffectivePolicy
) -> Reason:
    start = "It searched because" if judged.retrieving else "Uncertain:"
    end = "." if judged.retrieving else f".{_USED_UP}"
    if word.value is None:
        return Reason(f"{start} the value of the sentence is unknown{end}")
    value, threshold = decimals_apart(word.value, word.threshold)
    return Reason(
        f"{start} the sentence has the value {value} by the trigger {policy.trigger}, above the "
        f"threshold {threshold}; ",
        (name,),
        f" weighs most{end}",
    )


def _comparison(word: JudgedWord, policy: EffectivePolicy) -> str:
    """Return what a word has, and the threshold that it misses."""
    reason = threshold_reason(word, policy)
    if word.value is not None:
        value, _ = decimals_apart(word.value, word.threshold)
        by = f"by the trigger {policy.trigger}"
        return f"has the value {value}{_evidence(word)} {by}, above {reason}"
    if word.probability is None:
        return f"has no known probability, which counts as 0, below {reason}"
    if word.capped and word.threshold >= 1 and f"{word.probability:.2f}" == "1.00":
        return f"has probability 1.00, but {beyond_reason(word, policy)}"
    shown, _ = decimals_apart(word.probability, word.threshold)
    return f"has probability {shown}, below {reason}"


def _evidence(word: JudgedWord) -> str:
    parts = [
        f"{name} {value:.2f}"
        for name, value in (("entropy", word.entropy), ("attention", word.attention))
        if value is not None
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _margin(word: JudgedWord) -> float:
    if word.value is not None:
        return word.threshold - word.value
    return (word.probability or 0.0) - word.threshold


def _name(judged: SentenceJudged, at: int) -> str:
    """Return a word for a sentence; its place in a record that was kept without texts."""
    return judged.words[at].text or f"word {at + 1}"


def _by_word(policy: EffectivePolicy) -> bool:
    rule = TRIGGERS.get(policy.trigger or "")
    return rule is None or rule.by_word
