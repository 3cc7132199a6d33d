"""Reciprocal rank fusion of the rankings by words and by vectors.

The score of a passage is ``sum of weight / (rrf_k + rank)`` over the rankings that have it
(Cormack, Clarke and Büttcher, SIGIR 2009; the weights are an addition). Sums are exact fractions:
equal sums tie, whatever their terms are, and sort by passage id.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

from scaar.core.types import HybridSettings, RankedScore, ScoreParts

Key = TypeVar("Key")


class Fused(NamedTuple, Generic[Key]):
    """A passage, by its key, with its fused score and the ranks that give it."""

    key: Key
    score: float
    parts: ScoreParts


def depth_of(settings: HybridSettings, top_k: int) -> int:
    """Return the number of passages that each ranking contributes to the best ``top_k``."""
    return max(settings.candidates, top_k)


def fuse(
    words: Iterable[tuple[Key, float]],
    vectors: Iterable[tuple[Key, float]],
    settings: HybridSettings,
    top_k: int,
    *,
    order: Callable[[Key], Any],
) -> Sequence[Fused[Key]]:
    """Return the ``top_k`` best passages of two rankings, ties by ``order``.

    The rankings have a key and a score for each passage, best first.
    """
    by_words, by_vectors = _ranked(words), _ranked(vectors)
    scores = dict[Key, Fraction]()
    for ranking, weight in (
        (by_words, settings.words_weight),
        (by_vectors, settings.vectors_weight),
    ):
        exact = Fraction(weight)
        for key, found in ranking.items():
            scores[key] = scores.get(key, Fraction(0)) + exact / (settings.rrf_k + found.rank)
    best = sorted(scores, key=lambda key: (-scores[key], order(key)))[:top_k]
    return [
        Fused(
            key,
            float(scores[key]),
            ScoreParts(
                by_words.get(key),
                by_vectors.get(key),
                RankedScore(rank, float(scores[key])),
            ),
        )
        for rank, key in enumerate(best, 1)
    ]


def _ranked(ranking: Iterable[tuple[Key, float]]) -> dict[Key, RankedScore]:
    return {key: RankedScore(rank, score) for rank, (key, score) in enumerate(ranking, 1)}
