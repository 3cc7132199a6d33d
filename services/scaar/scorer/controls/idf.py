"""Control that replaces contributions with the rarity of each word, without model or sentence.

The frequencies of English words come with the package wordfreq, and no longer change. They count
words, whereas inverse document frequencies count documents; both are logarithms of rarity.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from math import log

from scaar.core.controls import Control, controlled_name
from scaar.core.distributions import library_required
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.core.types.scoring import MAX_SCORED_CHARACTERS
from scaar.scorer.validation import check_requests

MIN_FREQUENCY = 1e-9
"""Minimum frequency, also used for rarer and unknown words."""
_MAX_PAIR = 2 * (2 * MAX_SCORED_CHARACTERS + 1)

Frequency = Callable[[str], float]
"""Returns the relative frequency of a word in a language, 0 for an unknown word."""


@asynccontextmanager
async def open_idf_scorer(*, preload: bool = True) -> AsyncIterator["IdfScorer"]:
    """Open the scorer over wordfreq's list, which is loaded now, or else at the first use.

    Raises:
        CapabilityMissing: wordfreq is not installed.
    """
    with library_required("control idf", "idf", control=str(Control.IDF)):
        from wordfreq import word_frequency

    def frequency(word: str) -> float:
        return float(word_frequency(word, "en", wordlist="large"))

    if preload:
        await asyncio.to_thread(frequency, "the")
    yield IdfScorer(frequency, revision=version("wordfreq"))


class IdfScorer:
    """A :class:`~scaar.core.ports.ContributionScorer` that scores each word by itself."""

    def __init__(self, frequency: Frequency, *, revision: str) -> None:
        self._frequency = frequency
        self._revision = revision

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        """Return the rarity of every word, regardless of question and sentence.

        Raises:
            InvalidRequest: naming the invalid fields, before any work.
        """
        check_requests(requests)
        return await asyncio.to_thread(self._rarities, requests)

    async def describe_model(self) -> ScorerDescription:
        # There are no tokens, so the limit is the longest possible pair, in characters.
        return ScorerDescription(
            model=controlled_name("wordfreq", Control.IDF),
            revision=self._revision,
            engine="wordfreq",
            max_pair_tokens=_MAX_PAIR,
        )

    def _rarities(self, requests: Sequence[ScoreRequest]) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(rarity(word, self._frequency) for word in each.words) for each in requests
        )


def rarity(word: str, frequency: Frequency) -> float:
    """Return log(frequency) / log(minimum frequency), in [0, 1]; 0 for a word without letters."""
    if not any(character.isalnum() for character in word):
        return 0.0
    known = min(1.0, max(MIN_FREQUENCY, frequency(word)))
    return log(known) / log(MIN_FREQUENCY)
