"""Ports that stand behind a breaker: what they depend on is not asked while it fails."""

import math
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import aclosing

from scaar.core.breaker import Breaker
from scaar.core.ports import Answerer, ContributionScorer, Generator, QueryBuilder, Retriever
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    AttendRequest,
    Attention,
    DenseSettings,
    GenerateRequest,
    GenerationEvent,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    ModelDescription,
    Passage,
    Query,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
)


class GuardedGenerator:
    """A generator; a generation has succeeded at its first event, and failed if it is cut off."""

    def __init__(self, generator: Generator, breaker: Breaker, share_s: float) -> None:
        self._generator = generator
        self._breaker = breaker
        self._share_s = share_s

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        with self._breaker.calling(share_s=self._share_s) as call:
            async with aclosing(self._generator.generate(request)) as events:
                async for event in events:
                    call.answered()
                    yield event
                    call.waiting()

    async def attend(self, request: AttendRequest) -> Attention:
        with self._breaker.calling(share_s=self._share_s):
            return await self._generator.attend(request)

    async def describe_model(self) -> ModelDescription:
        with self._breaker.calling(share_s=self._share_s, describing=True):
            return await self._generator.describe_model()


class GuardedScorer:
    """A contribution scorer."""

    def __init__(self, scorer: ContributionScorer, breaker: Breaker, share_s: float) -> None:
        self._scorer = scorer
        self._breaker = breaker
        self._share_s = share_s

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        with self._breaker.calling(share_s=self._share_s):
            return await self._scorer.score_contributions(requests)

    async def describe_model(self) -> ScorerDescription:
        with self._breaker.calling(share_s=self._share_s, describing=True):
            return await self._scorer.describe_model()


class GuardedQueryBuilder:
    """A query builder."""

    def __init__(self, query_builder: QueryBuilder, breaker: Breaker, share_s: float) -> None:
        self._query_builder = query_builder
        self._breaker = breaker
        self._share_s = share_s

    async def build_query(self, request: QueryRequest) -> Query:
        with self._breaker.calling(share_s=self._share_s):
            return await self._query_builder.build_query(request)


class GuardedRetriever:
    """A retriever; what changes an index, or reads it whole, goes past the breaker.

    Such calls take as long as they take, and no answer waits for one.
    """

    def __init__(self, retriever: Retriever, breaker: Breaker, share_s: float) -> None:
        self._retriever = retriever
        self._breaker = breaker
        self._share_s = share_s

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        with self._breaker.calling(share_s=self._share_s):
            return await self._retriever.retrieve(request)

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        return await self._retriever.index_passages(
            index, passages, mode=mode, metadata_fields=metadata_fields, dense=dense
        )

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        return await self._retriever.delete_passages(index, passage_ids)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        with self._breaker.calling(share_s=self._share_s, describing=True):
            return await self._retriever.list_indexes()

    async def describe_index(self, index: str) -> IndexDescription:
        with self._breaker.calling(share_s=self._share_s, describing=True):
            return await self._retriever.describe_index(index)

    async def verify_index(self, index: str) -> IndexVerification:
        return await self._retriever.verify_index(index)

    async def drop_index(self, index: str) -> None:
        await self._retriever.drop_index(index)


class GuardedAnswerer:
    """An answerer elsewhere; what fails behind it is none of its own failures."""

    def __init__(self, answerer: Answerer, breaker: Breaker) -> None:
        self._answerer = answerer
        self._breaker = breaker

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        with self._breaker.calling(share_s=math.inf, relaying=True) as call:
            async with aclosing(self._answerer.stream_answer(request)) as events:
                async for event in events:
                    call.answered()
                    yield event
                    call.waiting()
