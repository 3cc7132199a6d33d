"""Fusion of the results of two queries.

By reciprocal rank (Cormack, Clarke and Büttcher, SIGIR 2009), or by the similarity of a passage to
both queries (DTR, Chen et al., arXiv 2601.03908).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from scaar.core.types import Fusion, RetrievedPassage

K = 60
"""The constant of the paper, which limits the weight of the first ranks."""
DEPTH = 10
"""Minimum number of passages of each result that are fused."""

CANDIDATES = 5
"""Minimum number of passages of each result that are fused by similarity, as in DTR."""


def depth_of(fusion: Fusion, top_k: int) -> int:
    """Return the number of passages of each query from which ``top_k`` are fused."""
    return max(top_k, DEPTH if fusion is Fusion.RANK else CANDIDATES)


def fuse_by(
    fusion: Fusion, results: Sequence[Sequence[RetrievedPassage]], top_k: int
) -> tuple[RetrievedPassage, ...]:
    """Return the ``top_k`` best passages of the results of two queries.

    Except by rank, every passage must be in both results, with its cosine to the query.
    """
    if fusion is Fusion.RANK:
        return fuse(results, top_k)
    return _fuse_cosines(results, top_k, cosine_of_sum if fusion is Fusion.ANGLES else _sum)


def cosine_of_sum(first: float, second: float) -> float:
    """Return the cosine of the sum of two angles in [0, pi] from their cosines.

    cos(t1 + t2) = cos(t1) cos(t2) - sin(t1) sin(t2)
    """
    return first * second - math.sqrt((1.0 - first**2) * (1.0 - second**2))


def _sum(first: float, second: float) -> float:
    return first + second


def _fuse_cosines(
    results: Sequence[Sequence[RetrievedPassage]],
    top_k: int,
    score: Callable[[float, float], float],
) -> tuple[RetrievedPassage, ...]:
    """Return the ``top_k`` passages with the best score of both cosines, ties by passage id."""
    first, second = ({each.id: each for each in result} for result in results)
    scored = [
        replace(each, score=score(_clipped(each.score), _clipped(second[each.id].score)))
        for each in first.values()
    ]
    scored.sort(key=lambda each: (-each.score, each.id))
    return tuple(replace(each, rank=rank) for rank, each in enumerate(scored[:top_k], 1))


def _clipped(cosine: float) -> float:
    return max(-1.0, min(1.0, cosine))


def fuse(results: Sequence[Sequence[RetrievedPassage]], top_k: int) -> tuple[RetrievedPassage, ...]:
    """Return the ``top_k`` passages with the largest sum of 1 / (60 + rank) over the results.

    The sum is their score. Ties are ordered by passage id.
    """
    scores = dict[str, float]()
    passages = dict[str, RetrievedPassage]()
    for result in results:
        for passage in result:
            passages.setdefault(passage.id, passage)
            scores[passage.id] = scores.get(passage.id, 0.0) + 1.0 / (K + passage.rank)
    best = sorted(scores, key=lambda each: (-scores[each], each))[:top_k]
    return tuple(
        replace(passages[each], score=scores[each], rank=rank) for rank, each in enumerate(best, 1)
    )
