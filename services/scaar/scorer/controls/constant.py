"""Control that replaces contributions with their mean over the sentence.

The control keeps the mean effect on a sentence's thresholds, and removes the effect of each word.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from scaar.core.controls import Control, controlled_name
from scaar.core.loop.contribution import clamped
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScorerDescription, ScoreRequest


class ConstantScorer:
    """A :class:`~scaar.core.ports.ContributionScorer` over any other."""

    def __init__(self, scorer: ContributionScorer) -> None:
        self._scorer = scorer

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        found = await self._scorer.score_contributions(requests)
        return tuple(clamped([fmean(each)] * len(each)) for each in found)

    async def describe_model(self) -> ScorerDescription:
        model = await self._scorer.describe_model()
        return replace(model, model=controlled_name(model.model, Control.CONSTANT))
