"""Ports behind a breaker."""

import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from scaar.core.calls.breaker import Breaker
from scaar.core.ports import Answerer, ContributionScorer, Generator, QueryBuilder, Retriever
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEvent,
    IndexDescription,
    LogprobsRequest,
    ModelDescription,
    PassageInContext,
    PassageRequest,
    Query,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
    TextLogprobs,
)
from scaar.core.wrapped_generator import WrappedGenerator


class BreakerGenerator(WrappedGenerator):
    """A generator. A generation succeeds with its first event, and fails if it breaks off."""

    def __init__(self, generator: Generator, breaker: Breaker, share_s: float) -> None:
        super().__init__(generator)
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

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        with self._breaker.calling(share_s=self._share_s):
            return await self._generator.compute_logprobs(request)

    async def describe_model(self) -> ModelDescription:
        with self._breaker.calling(share_s=self._share_s, describing=True):
            return await self._generator.describe_model()


class BreakerScorer:
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


class BreakerQueryBuilder:
    """A query builder."""

    def __init__(self, query_builder: QueryBuilder, breaker: Breaker, share_s: float) -> None:
        self._query_builder = query_builder
        self._breaker = breaker
        self._share_s = share_s

    async def build_query(self, request: QueryRequest) -> Query:
        with self._breaker.calling(share_s=self._share_s):
            return await self._query_builder.build_query(request)


class BreakerRetriever:
    """A retriever. Index keepers have none: their calls may take hours, and no answer waits."""

    def __init__(self, retriever: Retriever, breaker: Breaker, share_s: float) -> None:
        self._retriever = retriever
        self._breaker = breaker
        self._share_s = share_s

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        with self._breaker.calling(share_s=self._share_s):
            return await self._retriever.retrieve(request)

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        with self._breaker.calling(share_s=self._share_s):
            return await self._retriever.get_passage(request)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        with self._breaker.calling(share_s=self._share_s, describing=True):
            return await self._retriever.list_indexes()

    async def describe_index(self, index: str) -> IndexDescription:
        with self._breaker.calling(share_s=self._share_s, describing=True):
            return await self._retriever.describe_index(index)


class BreakerAnswerer:
    """A remote answerer. Failures of the services behind it do not count."""

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
