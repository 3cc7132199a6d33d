"""The words of a judged draft: what each is compared with, and where its lines are drawn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.text.words import tokens_of
from scaar.core.triggers import TRIGGERS
from scaar.core.types import EffectivePolicy, JudgedWord, SentenceJudged, Token, Word

HEIGHT = 48
"""Height of the drawing of a word, in units of its view box."""
_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that the model could have written, and its probability."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class WordView:
    """A word with its numbers as text, and the heights of its lines, None where it has none.

    ``value_y`` is the height of the probability or value, ``threshold_y`` that of the threshold,
    ``contribution_y`` the length of the bar of the contribution.
    """

    text: str
    uncertain: bool
    is_trigger: bool
    facts: tuple[tuple[str, str], ...]
    value_y: float | None
    threshold_y: float | None
    contribution_y: float | None
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a draft, and what their lines stand for."""

    words: tuple[WordView, ...]
    line: str
    threshold: str
    has_contributions: bool


def words_of(
    judged: SentenceJudged, policy: EffectivePolicy, tokens: Sequence[Token] = ()
) -> Words:
    """Return the words of a judged draft for its drawing.

    Probabilities are drawn from 0 to 1, values of other triggers from 0 to the largest one. A
    trigger that judges whole sentences has no threshold of words.
    """
    by_value = any(word.value is not None for word in judged.words) and _by_word(policy)
    by_word = _by_word(policy)
    top = 1.0
    if by_value:
        finite = [word.value for word in judged.words if _is_finite(word.value)]
        top = max([*(each for each in finite if each is not None), policy.theta]) * 1.1 or 1.0
    alternatives = _alternatives(judged.words, tokens)
    words = tuple(
        WordView(
            word.text,
            word.uncertain,
            at == judged.trigger,
            facts_of(word, by_value=by_value, by_word=by_word),
            _height(word.value if by_value else word.probability, top),
            _height(word.threshold, top) if by_word else None,
            _length(word.contribution),
            alternatives[at],
        )
        for at, word in enumerate(judged.words)
    )
    return Words(
        words,
        line="value of the trigger" if by_value else "probability P′",
        threshold=f"threshold θ = {policy.theta:g}" if by_word else "",
        has_contributions=any(word.contribution is not None for word in judged.words),
    )


def facts_of(word: JudgedWord, *, by_value: bool, by_word: bool) -> tuple[tuple[str, str], ...]:
    """Return the numbers of a word with their names."""
    found = [("P′", number(word.probability))]
    if word.value is not None and by_value:
        found.append(("value", number(word.value)))
    if by_word:
        capped = " (limited by theta_cap)" if word.capped else ""
        found.append(("threshold", number(word.threshold) + capped))
    if word.contribution is not None:
        found.append(("contribution r", number(word.contribution)))
    if word.entropy is not None:
        found.append(("entropy", f"{number(word.entropy)} nats"))
    if word.attention is not None:
        found.append(("attention", number(word.attention)))
    return tuple(found)


def number(value: float | None) -> str:
    """Return a number with three digits; a word for an unknown one."""
    return "unknown" if value is None else f"{value:.3g}"


def _by_word(policy: EffectivePolicy) -> bool:
    rule = TRIGGERS.get(policy.trigger or "")
    return rule is None or rule.by_word


def _alternatives(
    words: Sequence[JudgedWord], tokens: Sequence[Token]
) -> list[tuple[Alternative, ...]]:
    """Return the most probable tokens at the first token of every word; empty if not recorded."""
    if not any(token.top for token in tokens):
        return [()] * len(words)
    start = tokens[0].start
    spans = [Word(word.text, word.start + start, word.end + start) for word in words]
    return [
        tuple(
            Alternative(each.text.strip() or "space", math.exp(min(0.0, each.logprob)))
            for each in tokens[positions[0]].top[:_ALTERNATIVES]
        )
        if positions
        else ()
        for positions in tokens_of(spans, tokens)
    ]


def _height(value: float | None, top: float) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(HEIGHT * (1 - _clamped(value / top)), 1)


def _length(contribution: float | None) -> float | None:
    return None if contribution is None else round(_clamped(contribution) * HEIGHT / 2, 1)


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
