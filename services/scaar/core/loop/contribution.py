"""Semantic contributions: the share of the meaning of (question, sentence) that a word carries.

r of SCAAR Eq. 1, and r' of Eq. 2.
"""

import math
from collections.abc import Sequence

from scaar.core.errors import ScaarError
from scaar.core.loop.attention import scaled_to_mean_one
from scaar.core.text.words import join_words


def leave_one_out(question: str, words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the text of question and sentence, and the same text without each word (Eq. 1).

    A word is removed by its position, with the white space before it, so that a repeated word loses
    one occurrence.
    """
    altered = tuple(
        join_words((question, *words[:position], *words[position + 1 :]))
        for position in range(len(words))
    )
    return join_words((question, *words)), altered


def normalised(contributions: Sequence[float]) -> tuple[float, ...]:
    """Return r': the contributions scaled to mean 1 (Eq. 2); 1 for every word if all are 0.

    Raises:
        ScaarError: a contribution is not a number.
    """
    return scaled_to_mean_one(clamped(contributions))


def clamped(contributions: Sequence[float]) -> tuple[float, ...]:
    """Return the contributions, each clamped to [0, 1].

    Raises:
        ScaarError: a contribution is not a number.
    """
    if any(math.isnan(contribution) for contribution in contributions):
        raise ScaarError("the scorer returned a contribution that is not a number")
    return tuple(min(1.0, max(0.0, contribution)) for contribution in contributions)
