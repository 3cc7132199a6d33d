"""The conformance suite of the scorer on a real Triton server, embedded and over gRPC."""

from collections.abc import AsyncIterator, Callable

import pytest

from scaar.core.ports import ContributionScorer
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.conformance.scorer import ScorerConformance
from scaar.testing.sockets import TRANSPORTS, scorer_by

from ..servers.triton.running_triton import RunningTriton


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("cache_entries", [0, 4096])
class TestTritonScorer(ScorerConformance):
    @pytest.fixture
    async def scorer(  # type: ignore[override]
        self,
        transport: str,
        cache_entries: int,
        triton: RunningTriton,
        settings_for: Callable[..., ScorerSettings],
    ) -> AsyncIterator[ContributionScorer]:
        settings = settings_for(triton, cache_entries=cache_entries)
        async with open_scorer(settings) as engine, scorer_by(transport, engine) as scorer:
            yield scorer


class TestTritonScorerInSmallRequests(ScorerConformance):
    @pytest.fixture
    async def scorer(  # type: ignore[override]
        self, triton: RunningTriton, settings_for: Callable[..., ScorerSettings]
    ) -> AsyncIterator[ContributionScorer]:
        settings = settings_for(triton, max_batch_pairs=2, triton_requests=3)
        async with open_scorer(settings) as scorer:
            yield scorer
