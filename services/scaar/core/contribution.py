"""Semantic contribution weighting: a threshold for every word (SCW, SCAAR Eq. 1-3).

A word's contribution r is how much of the meaning of (question, sentence) goes with it. The
sentence is retrieved for when some word's probability P' is below its threshold theta_i.
"""

import math
from collections.abc import Sequence

from scaar.core.errors import ScaarError
from scaar.core.types import JudgedWord, Weighting, Word


def leave_one_out(question: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The text of question and sentence, and the same without each word in turn (Eq. 1).

    A word is taken out by its position, with the white space before it, so that a repeated
    word loses one occurrence.
    """
    altered = tuple(
        " ".join((question, *words[:position], *words[position + 1 :]))
        for position in range(len(words))
    )
    return " ".join((question, *words)), altered


def normalised(contributions: Sequence[float]) -> tuple[float, ...]:
    """r': the contributions scaled to mean 1 (Eq. 2); 1 for every word where all are 0.

    Raises:
        ScaarError: a contribution is not a number.
    """
    clamped = _clamped(contributions)
    total = math.fsum(clamped)
    if total == 0.0:
        return (1.0,) * len(clamped)
    return tuple(len(clamped) * contribution / total for contribution in clamped)


def thresholds(
    contributions: Sequence[float] | None,
    *,
    count: int,
    weighting: Weighting,
    theta: float,
    theta_cap: float,
) -> tuple[tuple[float, bool], ...]:
    """theta_i of each of ``count`` words, and whether the cap set it (Eq. 3).

    - ``exp_raw``, as printed, on r: min(theta_cap, theta * exp(r)). With r' it could not work:
      some word always has r' >= 1, and its threshold would pass 1 for any theta above 0.368.
    - ``surprisal``, the project's, on r': theta ** (1 / r'), so that a word triggers when
      r' * -ln P' > -ln theta; 0 where r' is 0. Never above 1, and never capped.
    - ``none``: theta.

    Raises:
        ScaarError: contributions that are missing, too few, too many or not numbers.
    """
    match weighting:
        case Weighting.NONE:
            return ((theta, False),) * count
        case Weighting.EXP_RAW:
            raised = [theta * math.exp(r) for r in _clamped(_counted(contributions, count))]
            return tuple((min(theta_cap, value), value > theta_cap) for value in raised)
        case Weighting.SURPRISAL:
            relative = normalised(_counted(contributions, count))
            # 1 / r' may be infinite, but theta <= 1 to its power only ever sinks to 0.
            return tuple((theta ** (1.0 / r) if r > 0.0 else 0.0, False) for r in relative)


def judge_words(
    words: Sequence[Word],
    probabilities: Sequence[float | None],
    contributions: Sequence[float] | None,
    *,
    weighting: Weighting,
    theta: float,
    theta_cap: float,
) -> tuple[JudgedWord, ...]:
    """Every word held against its threshold: uncertain where P' < theta_i.

    An unknown probability counts as 0 and so is uncertain, unless the word's r' is 0 under
    ``surprisal``. A word capped at 1 is uncertain whatever its probability: as printed, its
    threshold is above 1. A lower cap spares certain words. Contributions are clamped to [0, 1];
    those of a weighting that uses none are carried along where they are given, for the query.

    Raises:
        ScaarError: contributions that are missing, too few, too many or not numbers.
    """
    limits = thresholds(
        contributions, count=len(words), weighting=weighting, theta=theta, theta_cap=theta_cap
    )
    carried: Sequence[float | None] = (None,) * len(words)
    if contributions is not None:
        carried = _clamped(_counted(contributions, len(words)))
    relative = (
        normalised(_counted(contributions, len(words)))
        if weighting is Weighting.SURPRISAL
        else (1.0,) * len(words)
    )
    return tuple(
        JudgedWord(
            text=word.text,
            start=word.start,
            end=word.end,
            probability=probability,
            threshold=threshold,
            uncertain=share > 0.0 and _is_below(probability, threshold, capped=capped),
            contribution=contribution,
            capped=capped,
        )
        for word, probability, contribution, share, (threshold, capped) in zip(
            words, probabilities, carried, relative, limits, strict=True
        )
    )


def _is_below(probability: float | None, threshold: float, *, capped: bool) -> bool:
    """P' < theta_i, where a tiny r' may have sunk theta_i to 0 or a large r raised it above 1."""
    return not probability or probability < threshold or (capped and threshold >= 1.0)


def _counted(contributions: Sequence[float] | None, count: int) -> Sequence[float]:
    if contributions is None:
        raise ScaarError("this weighting needs the contribution of every word")
    if len(contributions) != count:
        raise ScaarError(f"{len(contributions)} contributions were scored for {count} words")
    return contributions


def _clamped(contributions: Sequence[float]) -> tuple[float, ...]:
    if any(math.isnan(contribution) for contribution in contributions):
        raise ScaarError("the scorer gave a contribution that is not a number")
    return tuple(min(1.0, max(0.0, contribution)) for contribution in contributions)
