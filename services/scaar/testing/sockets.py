"""Ports over real gRPC sockets on loopback, and the same ports embedded.

``transport`` is one of :data:`TRANSPORTS`, so that a test runs the same either way.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

import grpc

from scaar.core.gates import QuestionGate
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import (
    Answerer,
    ContributionScorer,
    Evaluator,
    Generator,
    IndexKeeper,
    QueryBuilder,
)
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.server import Servicer, open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.corpus_counts import LONDON_CORPUS
from scaar.testing.sentence_filter import OVERLAP_FILTER
from scaar.wire.evaluator import EvaluatorServicer, RemoteEvaluator
from scaar.wire.generator import GeneratorServicer, RemoteGenerator
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer
from scaar.wire.query_builder import QueryBuilderServicer, RemoteQueryBuilder
from scaar.wire.retriever import RemoteRetriever, RetrieverServicer
from scaar.wire.scorer import RemoteScorer, ScorerServicer
from scaar.wire.status import status_of

TRANSPORTS = ("embedded", "grpc")


@asynccontextmanager
async def serving(
    servicer: Servicer, settings: ServiceSettings | None = None
) -> AsyncIterator[tuple[grpc.aio.Channel, str]]:
    """Serve on a free port of loopback, and yield a channel to the server and its target."""
    settings = settings or ServiceSettings(stop_grace_s=0.0)
    async with (
        open_server([servicer], "127.0.0.1:0", settings, status_of=status_of) as server,
        open_channel(server.target, settings=ChannelSettings(attempts=1)) as channel,
    ):
        yield channel, server.target


@asynccontextmanager
async def generator_by(transport: str, generator: Generator) -> AsyncIterator[Generator]:
    """Yield the generator itself, or a client of it over gRPC."""
    if transport == "embedded":
        yield generator
        return
    async with serving(GeneratorServicer(generator)) as (channel, target):
        yield RemoteGenerator(channel, target)


@asynccontextmanager
async def scorer_by(
    transport: str, scorer: ContributionScorer
) -> AsyncIterator[ContributionScorer]:
    """Yield the scorer itself, or a client of it over gRPC."""
    if transport == "embedded":
        yield scorer
        return
    async with serving(ScorerServicer(scorer)) as (channel, target):
        yield RemoteScorer(channel, target)


@asynccontextmanager
async def query_builder_by(
    transport: str, query_builder: QueryBuilder
) -> AsyncIterator[QueryBuilder]:
    """Yield the query builder itself, or a client of it over gRPC."""
    if transport == "embedded":
        yield query_builder
        return
    async with serving(QueryBuilderServicer(query_builder)) as (channel, target):
        yield RemoteQueryBuilder(channel, target)


@asynccontextmanager
async def retriever_by(transport: str, retriever: IndexKeeper) -> AsyncIterator[IndexKeeper]:
    """Yield the retriever itself, or a client of it over gRPC."""
    if transport == "embedded":
        yield retriever
        return
    async with serving(RetrieverServicer(retriever)) as (channel, target):
        yield RemoteRetriever(channel, target)


@asynccontextmanager
async def answerer_by(transport: str, answerer: Answerer) -> AsyncIterator[Answerer]:
    """Yield the answerer itself, or a client of it over gRPC."""
    if transport == "embedded":
        yield answerer
        return
    async with serving(OrchestratorServicer(answerer)) as (channel, target):
        yield RemoteAnswerer(channel, target)


@asynccontextmanager
async def evaluator_by(transport: str, evaluator: Evaluator) -> AsyncIterator[Evaluator]:
    """Yield the evaluator itself, or a client of it over gRPC."""
    if transport == "embedded":
        yield evaluator
        return
    async with serving(EvaluatorServicer(evaluator)) as (channel, target):
        yield RemoteEvaluator(channel, target, timeout_s=60.0)


@asynccontextmanager
async def loop_by(
    transport: str, ports: Ports, gate: QuestionGate | None = None
) -> AsyncIterator[Answerer]:
    """Yield the adaptive loop; its ports and the loop itself use the transport."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        reached = Ports(
            generator=await enter(generator_by(transport, ports.generator)),
            scorer=await enter(scorer_by(transport, ports.scorer)),
            query_builder=await enter(query_builder_by(transport, ports.query_builder)),
            retriever=await enter(retriever_by(transport, cast(IndexKeeper, ports.retriever))),
        )
        loop = AdaptiveLoop(
            reached,
            gate=gate,
            sentence_filter=OVERLAP_FILTER,
            corpus_counts=LONDON_CORPUS,
            default_index="lab",
        )
        yield await enter(answerer_by(transport, loop))
