"""Control that assigns each contribution to another word of the sentence.

The values of a sentence stay the same, and so do their mean and maximum; their relation to the
words is lost.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from scaar.core.controls import Control, controlled_name
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScorerDescription, ScoreRequest


class PermutedScorer:
    """A :class:`~scaar.core.ports.ContributionScorer` over any other."""

    def __init__(self, scorer: ContributionScorer) -> None:
        self._scorer = scorer

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        found = await self._scorer.score_contributions(requests)
        return tuple(
            permuted(request, contributions)
            for request, contributions in zip(requests, found, strict=True)
        )

    async def describe_model(self) -> ScorerDescription:
        model = await self._scorer.describe_model()
        return replace(model, model=controlled_name(model.model, Control.PERMUTED))


def permuted(request: ScoreRequest, contributions: Sequence[float]) -> tuple[float, ...]:
    """Permute the contributions, always in the same way for the same question and words.

    The permutation is a single cycle, so every word gets the contribution of another word.
    """
    texts = repr((request.question, *request.words)).encode()
    seed = hashlib.sha256(texts).digest()
    cycle = sorted(
        range(len(contributions)), key=lambda at: hashlib.sha256(seed + b"%d" % at).digest()
    )
    before = dict(zip(cycle, cycle[-1:] + cycle[:-1], strict=True))
    return tuple(contributions[before[at]] for at in range(len(contributions)))
