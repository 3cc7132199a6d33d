"""A client's deadline reaches every service that works for it, and ends all that work."""

import asyncio
import inspect
import itertools
import math
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import grpc
import pytest

from scaar.core.errors import DeadlineExceeded
from scaar.core.loop.budget import CALL_MARGIN_S, deadline_in
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    LogprobsRequest,
    Passage,
    PassageRequest,
    QueryRequest,
    QuerySettings,
    RetrieveRequest,
    ScoreRequest,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.server import Servicer
from scaar.testing.fakes import (
    SAMPLED_MODEL,
    WHITE_BOX_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sockets import serving
from scaar.v1 import orchestrator_pb2, orchestrator_pb2_grpc, policy_pb2
from scaar.wire.generator import GeneratorServicer, RemoteGenerator
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.query_builder import QueryBuilderServicer, RemoteQueryBuilder
from scaar.wire.retriever import RemoteRetriever, RetrieverServicer
from scaar.wire.scorer import RemoteScorer, ScorerServicer

QUESTION = "Where was Ada born?"
PASSAGES = (Passage("p1", "Ada", "Ada was born in London."),)
CAP_S = 7.0
CALLED = {
    "GeneratorServicer.DescribeModel",
    "GeneratorServicer.Generate",
    "ScorerServicer.DescribeModel",
    "ScorerServicer.ScoreContributions",
    "QueryBuilderServicer.BuildQuery",
    "RetrieverServicer.DescribeIndex",
    "RetrieverServicer.Retrieve",
}


def script(request: GenerateRequest) -> list[Piece]:
    """Unsure of Paris on its own; with the passage, sure of London."""
    end: Piece = (" So the answer is London.", -0.1)
    if request.prefix:
        return [end]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born in", -0.1), place, end]


@dataclass
class BackEnds:
    """Four services, and the deadline of each of their calls."""

    generator: ScriptedGenerator
    reported: dict[str, list[float]] = field(default_factory=dict)

    def telling(self, servicer: Servicer) -> Servicer:
        """The servicer; what is left of the time of every call of it is kept."""
        kind = type(servicer)
        for name, method in inspect.getmembers(servicer, inspect.ismethod):
            if name[0].isupper():
                setattr(servicer, name, self._telling(f"{kind.__name__}.{name}", method))
        return servicer

    def _telling(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def tell(context: grpc.aio.ServicerContext[Any, Any]) -> None:
            remaining = context.time_remaining()
            seconds = math.inf if remaining is None else float(remaining)
            self.reported.setdefault(name, []).append(seconds)

        async def streaming(request: Any, context: Any) -> Any:
            tell(context)
            async with aclosing(method(request, context)) as responses:
                async for response in responses:
                    yield response

        async def unary(request: Any, context: Any) -> Any:
            tell(context)
            return await method(request, context)

        return streaming if inspect.isasyncgenfunction(method) else unary

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Ports]:
        """The four ports, each behind a socket."""
        async with AsyncExitStack() as stack:

            async def at(servicer: Servicer) -> tuple[grpc.aio.Channel, str]:
                return await stack.enter_async_context(serving(self.telling(servicer)))

            scorer = ScriptedScorer({"Ada": 0.3, "Paris.": 2 / 3})
            retriever = InMemoryRetriever({"lab": PASSAGES})
            yield Ports(
                RemoteGenerator(*await at(GeneratorServicer(self.generator)), timeout_s=CAP_S),
                RemoteScorer(*await at(ScorerServicer(scorer)), timeout_s=CAP_S),
                RemoteQueryBuilder(
                    *await at(QueryBuilderServicer(LocalQueryBuilder())), timeout_s=CAP_S
                ),
                RemoteRetriever(*await at(RetrieverServicer(retriever)), timeout_s=CAP_S),
            )

    @asynccontextmanager
    async def orchestrated(self) -> AsyncIterator[orchestrator_pb2_grpc.OrchestratorServiceStub]:
        """A client of an orchestrator over the four."""
        async with (
            self.open() as ports,
            serving(
                OrchestratorServicer(loop := AdaptiveLoop(ports, default_index="lab"), judge=loop)
            ) as (channel, _),
        ):
            yield orchestrator_pb2_grpc.OrchestratorServiceStub(channel)


def asking(policy: str = "scaar") -> orchestrator_pb2.AnswerRequest:
    presets = {
        "scaar": policy_pb2.Policy(scaar=policy_pb2.ScaarPolicy()),
        "no_retrieval": policy_pb2.Policy(no_retrieval=policy_pb2.NoRetrievalPolicy()),
    }
    return orchestrator_pb2.AnswerRequest(question=QUESTION, policy=presets[policy])


async def test_a_clients_deadline_reaches_every_service_below_it() -> None:
    below = BackEnds(ScriptedGenerator(script))
    async with below.orchestrated() as stub:
        response = await stub.Answer(asking(), timeout=2.0)
    assert response.answer.answer == "London"
    assert set(below.reported) == CALLED
    assert all(0 < seconds < 2.0 for reported in below.reported.values() for seconds in reported)


async def test_the_deadline_of_a_judgement_reaches_every_service_below_it() -> None:
    below = BackEnds(ScriptedGenerator(script, model=SAMPLED_MODEL))
    request = orchestrator_pb2.JudgeDraftRequest(
        question=QUESTION, draft="Ada was born in Paris.", policy=asking().policy
    )
    async with below.orchestrated() as stub:
        response = await stub.JudgeDraft(request, timeout=2.0)
        # Without retrieval, the query builder is not called.
        request.policy.scaar.theta = 1.0
        judged = await stub.JudgeDraft(request, timeout=2.0)
    assert response.sentences
    assert judged.retrieving
    written = {"GeneratorServicer.Generate", "RetrieverServicer.Retrieve"}
    assert set(below.reported) == CALLED - written | {"GeneratorServicer.ComputeLogprobs"}
    assert all(0 < seconds < 2.0 for reported in below.reported.values() for seconds in reported)


async def test_a_judgement_without_remaining_time_reads_nothing() -> None:
    below = BackEnds(ScriptedGenerator(script, model=SAMPLED_MODEL))
    request = orchestrator_pb2.JudgeDraftRequest(question=QUESTION, draft="Ada was born.")
    async with below.orchestrated() as stub:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.JudgeDraft(request, timeout=0.1)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert below.reported == {}


async def test_without_a_deadline_no_call_has_more_than_its_ports_cap() -> None:
    below = BackEnds(ScriptedGenerator(script))
    async with below.orchestrated() as stub:
        await stub.Answer(asking())
    assert set(below.reported) == CALLED
    longest = max(seconds for reported in below.reported.values() for seconds in reported)
    # gRPC sends a time rounded up to three digits.
    assert CAP_S - 2 < longest <= CAP_S * 1.01


async def test_a_budget_shorter_than_the_cap_reaches_every_service_below_it() -> None:
    below = BackEnds(ScriptedGenerator(script))
    request = asking()
    request.budget.timeout_s = 3.0
    async with below.orchestrated() as stub:
        await stub.Answer(request)
    assert set(below.reported) == CALLED
    assert all(0 < seconds < 3.0 for reported in below.reported.values() for seconds in reported)


async def test_a_deadline_that_passes_ends_the_work_two_services_below() -> None:
    endless = ScriptedGenerator(lambda request: itertools.repeat((" x", -0.1)), delay_s=0.01)
    below = BackEnds(endless)
    async with below.orchestrated() as stub:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Answer(asking("no_retrieval"), timeout=0.5)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        async with asyncio.timeout(5):
            while endless.closed < endless.opened:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
    (generating,) = below.reported["GeneratorServicer.Generate"]
    assert 0 < generating < 0.5
    assert endless.opened == 1


async def test_every_call_of_every_port_is_limited_to_the_remaining_time() -> None:
    model = replace(
        SAMPLED_MODEL, capabilities=SAMPLED_MODEL.capabilities | WHITE_BOX_MODEL.capabilities
    )
    able = ScriptedGenerator(script, model=model, attention=lambda _: Attention((), 0, ()))
    below = BackEnds(able)
    query = QueryRequest(QUESTION, QuerySettings("question", True))

    async def passages() -> AsyncIterator[Passage]:
        yield PASSAGES[0]

    async with below.open() as ports:
        with deadline_in(3.0):
            async with aclosing(ports.generator.generate(GenerateRequest("a"))) as events:
                assert [event async for event in events]
            await ports.generator.attend(AttendRequest("a", "b"))
            await ports.generator.compute_logprobs(LogprobsRequest("a", "b"))
            await ports.generator.release_answer("a")
            await ports.generator.describe_model()
            await ports.scorer.score_contributions([ScoreRequest("Who?", ("Ada",))])
            await ports.scorer.describe_model()
            await ports.query_builder.build_query(query)
            await ports.retriever.retrieve(RetrieveRequest(("Ada",), 1, "lab"))
            await ports.retriever.get_passage(PassageRequest("lab", "p1"))
            await ports.retriever.index_passages("more", passages())
            await ports.retriever.delete_passages("more", ["p1"])
            await ports.retriever.list_indexes()
            await ports.retriever.describe_index("lab")
            await ports.retriever.verify_index("lab")
            await ports.retriever.drop_index("more")
    kinds = (GeneratorServicer, ScorerServicer, QueryBuilderServicer, RetrieverServicer)
    every = {
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if name[0].isupper()
    }
    assert set(below.reported) == every
    assert all(0 < seconds < 3.0 for reported in below.reported.values() for seconds in reported)


async def test_a_call_without_remaining_time_is_not_made() -> None:
    below = BackEnds(ScriptedGenerator(script))
    async with below.open() as ports:
        with deadline_in(CALL_MARGIN_S), pytest.raises(DeadlineExceeded, match="no time remains"):
            await ports.generator.describe_model()
    assert below.reported == {}
