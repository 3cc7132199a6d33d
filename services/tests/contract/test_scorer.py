import zlib
from collections.abc import AsyncIterator
from typing import ClassVar

import pytest

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.loop.contribution import leave_one_out
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScoreRequest
from scaar.scorer.cache import open_cached_scorer
from scaar.scorer.controls.factory import open_control
from scaar.testing.conformance.scorer import ScorerConformance
from scaar.testing.fakes import ScriptedScorer
from scaar.testing.sockets import TRANSPORTS, scorer_by


def by_the_text_left(request: ScoreRequest) -> list[float]:
    """A number of each text without a word, from nowhere but the text."""
    if any(len(word) > 512 for word in request.words):
        raise InvalidRequest.of("sentences[0].words", "must make pairs of at most 512 characters")
    _, altered = leave_one_out(request.question, request.words)
    return [zlib.crc32(text.encode()) / 2**32 for text in altered]


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestScriptedScorer(ScorerConformance):
    @pytest.fixture
    async def scorer(self, transport: str) -> AsyncIterator[ContributionScorer]:
        async with scorer_by(transport, ScriptedScorer(by_the_text_left)) as scorer:
            yield scorer


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestScriptedScorerWithAMemory(ScorerConformance):
    @pytest.fixture
    async def scorer(self, transport: str) -> AsyncIterator[ContributionScorer]:
        scripted = ScriptedScorer(by_the_text_left)
        async with (
            open_cached_scorer(scripted, max_entries=3) as cached,
            scorer_by(transport, cached) as scorer,
        ):
            yield scorer


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestAPermutedControl(ScorerConformance):
    @pytest.fixture
    async def scorer(self, transport: str) -> AsyncIterator[ContributionScorer]:
        scripted = ScriptedScorer(by_the_text_left)
        async with (
            open_control(Control.PERMUTED, scripted) as control,
            scorer_by(transport, control) as scorer,
        ):
            yield scorer


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestAConstantControl(ScorerConformance):
    reads_order: ClassVar[bool] = False

    @pytest.fixture
    async def scorer(self, transport: str) -> AsyncIterator[ContributionScorer]:
        scripted = ScriptedScorer(by_the_text_left)
        async with (
            open_control(Control.CONSTANT, scripted) as control,
            scorer_by(transport, control) as scorer,
        ):
            yield scorer


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestAIdfControl(ScorerConformance):
    reads_order: ClassVar[bool] = False

    @pytest.fixture
    async def scorer(self, transport: str) -> AsyncIterator[ContributionScorer]:
        scripted = ScriptedScorer(by_the_text_left)
        async with (
            open_control(Control.IDF, scripted) as control,
            scorer_by(transport, control) as scorer,
        ):
            yield scorer
