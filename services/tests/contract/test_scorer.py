from collections.abc import AsyncIterator

import pytest

from scaar.core.ports import ContributionScorer
from scaar.testing.conformance.scorer import ScorerConformance
from scaar.testing.fakes import ScriptedScorer
from scaar.testing.sockets import TRANSPORTS, scorer_by


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestScriptedScorer(ScorerConformance):
    @pytest.fixture
    async def scorer(self, transport: str) -> AsyncIterator[ContributionScorer]:
        scripted = ScriptedScorer({"London.": 1 / 3, "Ada": 1.0})
        async with scorer_by(transport, scripted) as scorer:
            yield scorer
