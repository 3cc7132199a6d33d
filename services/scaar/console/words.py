"""The words of a judged draft: what each is compared with, and where its lines are drawn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scaar.console.thresholds import legend_of
from scaar.core.text.decimals import decimals_apart
from scaar.core.text.words import tokens_of
from scaar.core.triggers import TRIGGERS
from scaar.core.types import EffectivePolicy, JudgedWord, SentenceJudged, Token, Word

HEIGHT = 48
"""Height of the drawing of a word, in units of its view box."""
_MARGIN = 4.0
"""Space above 1 and below 0, so that a line there is drawn whole."""
_GAP = 9.0
"""Smallest distance of two lines: those of 0.98 and 1 would be one."""
_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that the model could have written, and its probability."""

    text: str
    probability: float


@dataclass(frozen=True, slots=True)
class WordView:
    """A word with its numbers as text, and the heights of its lines, None where it has none.

    ``value`` is the probability or the value of the trigger, ``limit`` the threshold after the sign
    of the comparison, empty without a threshold of the word. ``value_y`` and ``threshold_y`` are
    their heights, ``contribution_y`` the length of the bar of the contribution.
    """

    text: str
    uncertain: bool
    is_trigger: bool
    value: str
    limit: str
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
        _view(
            word,
            is_trigger=at == judged.trigger,
            by_value=by_value,
            by_word=by_word,
            top=top,
            alternatives=alternatives[at],
        )
        for at, word in enumerate(judged.words)
    )
    return Words(
        words,
        line=f"{policy.trigger} of the word" if by_value else "probability P′",
        threshold=legend_of(judged.words, policy) if by_word else "",
        has_contributions=any(word.contribution is not None for word in judged.words),
    )


def _view(
    word: JudgedWord,
    *,
    is_trigger: bool,
    by_value: bool,
    by_word: bool,
    top: float,
    alternatives: tuple[Alternative, ...],
) -> WordView:
    value = word.value if by_value else word.probability
    is_above = not word.uncertain if not by_value else _is_over(word)
    heights = _height(value, top), _height(word.threshold, top) if by_word else None
    shown, limit = _texts(word, value, by_value=by_value)
    return WordView(
        word.text,
        word.uncertain,
        is_trigger,
        shown,
        limit if by_word else "",
        facts_of(word, by_value=by_value, by_word=by_word),
        *_lines_apart(*heights, is_above=is_above),
        _length(word.contribution),
        alternatives,
    )


def _texts(word: JudgedWord, value: float | None, *, by_value: bool) -> tuple[str, str]:
    """Return a number and the threshold with the sign between them, as ``scaar ask`` does."""
    if value is None:
        return "?", f"{'>' if by_value else '<'} {word.threshold:.2f}"
    is_beyond = _is_over(word) if by_value else value < word.threshold
    beyond, within = (">", "≤") if by_value else ("<", "≥")
    shown, threshold = f"{value:.2f}", f"{word.threshold:.2f}"
    if shown == threshold and value != word.threshold:
        # A threshold that was raised beyond 1 is stated as 1.
        if word.threshold == 1 and not by_value:
            shown = ">0.99"
        else:
            shown, threshold = decimals_apart(value, word.threshold)
    return shown, f"{beyond if is_beyond or word.uncertain else within} {threshold}"


def _is_over(word: JudgedWord) -> bool:
    return word.value is not None and word.value > word.threshold


def _lines_apart(
    value_y: float | None, threshold_y: float | None, *, is_above: bool
) -> tuple[float | None, float | None]:
    """Return the heights of two lines, moved away from each other where they would touch."""
    if value_y is None or threshold_y is None or abs(value_y - threshold_y) >= _GAP:
        return value_y, threshold_y
    half = _GAP / 2
    middle = min(max((value_y + threshold_y) / 2, _MARGIN + half), HEIGHT - _MARGIN - half)
    above, below = round(middle - half, 1), round(middle + half, 1)
    return (above, below) if is_above else (below, above)


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
    return round(_MARGIN + (HEIGHT - 2 * _MARGIN) * (1 - _clamped(value / top)), 1)


def _length(contribution: float | None) -> float | None:
    return None if contribution is None else round(_clamped(contribution) * HEIGHT / 2, 1)


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
