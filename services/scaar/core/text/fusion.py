"""Reciprocal rank fusion of results (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from collections.abc import Sequence
from dataclasses import replace

from scaar.core.types import RetrievedPassage

K = 60
"""The constant of the paper, which limits the weight of the first ranks."""
DEPTH = 10
"""Minimum number of passages of each result that are fused."""


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
