"""The evidence of a draft: a provider for every kind, gathered concurrently."""

import asyncio
from collections.abc import Sequence
from dataclasses import fields

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.evidence import PROVIDERS, Draft, Evidence, Sources, gather
from scaar.core.loop.budget import Budget
from scaar.core.loop.writer import Sentence, Writing
from scaar.core.types import (
    AttendRequest,
    Attention,
    BudgetLimits,
    EvidenceKind,
    GenerateRequest,
    ScoreRequest,
    Token,
)
from scaar.testing.fakes import Piece, ScriptedGenerator, ScriptedScorer

TOKENS = (Token(" Ada", 1, 0, 4), Token(" sang", 2, 4, 9))
ATTENTION = Attention(TOKENS, 0, received=(0.75, 0.5))
BOTH = frozenset({EvidenceKind.CONTRIBUTIONS, EvidenceKind.OWN_ATTENTION})


class Meeting:
    """Two calls that each wait until the other has started."""

    def __init__(self) -> None:
        self.started = {"scorer": asyncio.Event(), "generator": asyncio.Event()}
        self.cancelled = False

    async def join(self, own: str, other: str) -> None:
        self.started[own].set()
        await self.started[other].wait()


class MeetingScorer(ScriptedScorer):
    def __init__(self, meeting: Meeting, error: Exception | None = None) -> None:
        super().__init__({"Ada": 0.5})
        self._meeting, self._error = meeting, error

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        await self._meeting.join("scorer", "generator")
        if self._error is not None:
            raise self._error
        return await super().score_contributions(requests)


class MeetingGenerator(ScriptedGenerator):
    def __init__(self, meeting: Meeting, *, endless: bool = False) -> None:
        super().__init__(_nothing)
        self._meeting, self._endless = meeting, endless

    async def attend(self, request: AttendRequest) -> Attention:
        await self._meeting.join("generator", "scorer")
        try:
            if self._endless:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self._meeting.cancelled = True
            raise
        return ATTENTION


def _nothing(request: GenerateRequest) -> list[Piece]:
    return []


def draft() -> Draft:
    sentence = Sentence(" Ada sang", TOKENS, (1, 2), last=False)
    return Draft("Who sang?", "Question: Who sang?", Writing(), sentence)


def sources(generator: ScriptedGenerator, scorer: ScriptedScorer) -> Sources:
    return Sources(generator, scorer, Budget(BudgetLimits()), "judging sentence 0")


def test_every_kind_has_a_provider_whose_field_has_its_name() -> None:
    assert set(PROVIDERS) == set(EvidenceKind)
    gathered = {kind.value for kind in EvidenceKind if PROVIDERS[kind].gather is not None}
    assert {each.name for each in fields(Evidence)} == {"words", "tokens", "context", *gathered}


async def test_kinds_are_gathered_concurrently() -> None:
    meeting = Meeting()
    async with asyncio.timeout(10):
        evidence = await gather(
            BOTH, draft(), sources(MeetingGenerator(meeting), MeetingScorer(meeting))
        )
    assert evidence.contributions == (0.5, 0.0)
    assert evidence.own_attention == ATTENTION
    assert (evidence.attention, evidence.word_classes) == (None, None)


async def test_the_error_of_one_provider_cancels_the_others() -> None:
    meeting, error = Meeting(), BackendUnavailable("the scorer is gone")
    async with asyncio.timeout(10):
        with pytest.raises(BackendUnavailable, match="the scorer is gone"):
            await gather(
                BOTH,
                draft(),
                sources(MeetingGenerator(meeting, endless=True), MeetingScorer(meeting, error)),
            )
    assert meeting.cancelled
