"""Breakers in front of services that hang, die and come back, over real sockets.

The effect of a breaker is measured by the calls that reach the service, never by time.
"""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from scaar import compose
from scaar.core.calls.breaker import BreakerLimits
from scaar.core.calls.breakers import Breakers
from scaar.core.errors import BackendUnavailable, DeadlineExceeded
from scaar.core.loop.budget import deadline_in
from scaar.core.loop.loop import AdaptiveLoop
from scaar.core.observers import BreakerObserver, BreakerState, Dependency
from scaar.core.ports import Answerer, Generator
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    BudgetLimits,
    GenerateRequest,
    OnFailure,
    Passage,
    PolicyRequest,
    RetrieveRequest,
    RetrieveResult,
    ScoreRequest,
)
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import (
    InMemoryRetriever,
    Piece,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sockets import answerer_by, serving
from scaar.wire.generator import GeneratorServicer
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.query_builder import QueryBuilderServicer
from scaar.wire.retriever import RetrieverServicer
from scaar.wire.scorer import ScorerServicer
from scaar.wire.status import status_of

QUESTION = "Where was Ada born?"
PASSAGES = (Passage("p1", "Ada", "Ada was born in London."),)
REQUEST = RetrieveRequest(("Ada",), 1, "lab")
LONG_OPEN = BreakerLimits(failures=3, open_s=60.0, max_open_s=60.0)
SHARE_S = 1.5


class HangingRetriever(InMemoryRetriever):
    """Takes calls and never answers them, while it ``hangs``; ``entered`` counts them."""

    def __init__(self) -> None:
        super().__init__({"lab": PASSAGES})
        self.hangs = True
        self.entered = 0

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        self.entered += 1
        if self.hangs:
            await asyncio.Event().wait()
        return await super().retrieve(request)


class HangingScorer(ScriptedScorer):
    """Says what it is, and hangs at its work."""

    def __init__(self) -> None:
        super().__init__({})
        self.entered = 0

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        self.entered += 1
        await asyncio.Event().wait()
        raise AssertionError("it never answers")


class HangingAnswerer(ScriptedAnswerer):
    """Takes questions and never says a word."""

    entered = 0

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        self.entered += 1
        await asyncio.Event().wait()
        async with aclosing(super().stream_answer(request)) as events:
            async for event in events:
                yield event


@dataclass
class Watched(BreakerObserver):
    turned: list[BreakerState] = field(default_factory=list)
    refused: int = 0

    def on_breaker_state(self, dependency: Dependency, state: BreakerState) -> None:
        self.turned.append(state)

    def on_call_refused(self, dependency: Dependency) -> None:
        self.refused += 1


@dataclass
class Clock:
    """The real one, which may be set forward."""

    forward_s: float = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.forward_s


def script(request: GenerateRequest) -> list[Piece]:
    """Unsure of Paris on its own; with the passage, sure of London."""
    if request.prefix:
        return [(" So the answer is London.", -0.1)]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born", -0.1), (" in", -0.2), place]


@contextmanager
def nobody_listening() -> Iterator[str]:
    """A target at which connections are refused, for the port is held and not listened at."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"dns:///127.0.0.1:{held.getsockname()[1]}"


async def drain(generator: Generator) -> None:
    async with aclosing(generator.generate(GenerateRequest("a"))) as events:
        async for _ in events:
            pass


async def answer_of(answerer: Answerer, request: AnswerRequest) -> Answer:
    async with aclosing(answerer.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, AnswerFinished):
                return event.answer
    raise AssertionError("it did not finish")


async def test_only_the_first_calls_reach_a_service_that_hangs_and_it_is_tried_again() -> None:
    hanging, clock, watched = HangingRetriever(), Clock(), Watched()
    breakers = Breakers(LONG_OPEN, watched, clock)
    async with (
        serving(RetrieverServicer(hanging)) as (_, target),
        compose.open_retriever(target, timeout_s=SHARE_S, breakers=breakers) as retriever,
    ):
        for _ in range(3):
            with pytest.raises(DeadlineExceeded):
                await retriever.retrieve(REQUEST)
        for _ in range(20):
            with pytest.raises(BackendUnavailable, match=f"retriever at {target} is not called"):
                await retriever.retrieve(REQUEST)
        assert (hanging.entered, watched.refused) == (3, 20)
        clock.forward_s += 60.0
        with pytest.raises(DeadlineExceeded):
            await retriever.retrieve(REQUEST)
        with pytest.raises(BackendUnavailable, match="is not called"):
            await retriever.retrieve(REQUEST)
        assert hanging.entered == 4
        hanging.hangs = False
        clock.forward_s += 60.0
        found = [await retriever.retrieve(REQUEST)]
        found += [await retriever.retrieve(REQUEST) for _ in range(5)]
    assert [each.results[0][0].id for each in found] == ["p1"] * 6
    assert hanging.entered == 10
    assert watched.turned[-2:] == [BreakerState.HALF_OPEN, BreakerState.CLOSED]


async def test_during_a_probe_other_calls_fail_immediately() -> None:
    hanging, clock = HangingRetriever(), Clock()
    breakers = Breakers(LONG_OPEN, clock=clock)
    async with (
        serving(RetrieverServicer(hanging)) as (_, target),
        compose.open_retriever(target, timeout_s=SHARE_S, breakers=breakers) as retriever,
    ):
        for _ in range(3):
            with pytest.raises(DeadlineExceeded):
                await retriever.retrieve(REQUEST)
        clock.forward_s += 60.0
        ended = await asyncio.gather(
            *(retriever.retrieve(REQUEST) for _ in range(50)), return_exceptions=True
        )
    assert sum(isinstance(each, DeadlineExceeded) for each in ended) == 1
    assert sum(isinstance(each, BackendUnavailable) for each in ended) == 49
    assert hanging.entered == 4


async def test_a_scorer_that_describes_itself_but_hangs_opens_the_breaker() -> None:
    hanging = HangingScorer()
    async with (
        serving(ScorerServicer(hanging)) as (_, target),
        compose.open_scorer(target, timeout_s=SHARE_S, breakers=Breakers(LONG_OPEN)) as scorer,
    ):
        for _ in range(3):
            await scorer.describe_model()
            with pytest.raises(DeadlineExceeded):
                await scorer.score_contributions([ScoreRequest(QUESTION, ("Ada",))])
        for asking in (
            scorer.describe_model(),
            scorer.score_contributions([ScoreRequest(QUESTION, ("Ada",))]),
        ):
            with pytest.raises(BackendUnavailable, match="is not called"):
                await asking
    assert hanging.entered == 3


async def test_a_recovered_service_is_called_again() -> None:
    limits = BreakerLimits(failures=3, open_s=0.05, max_open_s=0.2)
    watched = Watched()
    settings = ServiceSettings(stop_grace_s=0)
    servicer = RetrieverServicer(InMemoryRetriever({"lab": PASSAGES}))
    with ExitStack() as dead:
        target = dead.enter_context(nobody_listening())
        address = target.removeprefix("dns:///")
        breakers = Breakers(limits, watched)
        async with compose.open_retriever(target, breakers=breakers) as retriever:
            while watched.refused < 10:
                with pytest.raises(BackendUnavailable):
                    await retriever.retrieve(REQUEST)
            dead.close()
            async with (
                open_server([servicer], address, settings, status_of=status_of),
                asyncio.timeout(30),
            ):
                while watched.turned[-1] is not BreakerState.CLOSED:
                    with suppress(BackendUnavailable):
                        await retriever.retrieve(REQUEST)
                    await asyncio.sleep(0.005)
                found = await retriever.retrieve(REQUEST)
    assert found.results[0][0].id == "p1"


async def test_cancelled_calls_and_short_deadlines_never_open_a_breaker() -> None:
    hanging, watched = HangingRetriever(), Watched()
    breakers = Breakers(LONG_OPEN, watched)
    async with (
        serving(RetrieverServicer(hanging)) as (_, target),
        compose.open_retriever(target, timeout_s=60.0, breakers=breakers) as retriever,
    ):
        left = [asyncio.create_task(retriever.retrieve(REQUEST)) for _ in range(20)]
        async with asyncio.timeout(30):
            while hanging.entered < 20:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        for task in left:
            task.cancel()
        await asyncio.wait(left)
        for _ in range(4):
            with deadline_in(0.2), pytest.raises(DeadlineExceeded):
                await retriever.retrieve(REQUEST)
        hanging.hangs = False
        await retriever.retrieve(REQUEST)
    assert watched.turned == [BreakerState.CLOSED]
    assert watched.refused == 0


async def test_a_generator_that_cuts_off_streams_opens_the_breaker() -> None:
    cut = BackendUnavailable("the model is gone", target="tgi:80")
    engine = ScriptedGenerator(lambda request: [(" Ada", -0.1), cut])
    async with (
        serving(GeneratorServicer(engine)) as (_, target),
        compose.open_generator(target, breakers=Breakers(LONG_OPEN)) as generator,
    ):
        for expected in ("is gone", "is gone", "is gone", "is not called", "is not called"):
            with pytest.raises(BackendUnavailable, match=expected):
                await drain(generator)
    assert engine.opened == 3


async def test_answers_all_end_degraded_while_the_retriever_is_dead() -> None:
    watched = Watched()
    request = AnswerRequest(QUESTION, PolicyRequest("scaar"), on_failure=OnFailure.ACCEPT_DRAFT)
    async with (
        serving(GeneratorServicer(ScriptedGenerator(script))) as (_, generator),
        serving(ScorerServicer(ScriptedScorer({"Ada": 0.3, "Paris.": 2 / 3}))) as (_, scorer),
        serving(QueryBuilderServicer(LocalQueryBuilder())) as (_, builder),
    ):
        with nobody_listening() as dead:
            settings = OrchestratorSettings(
                generator_target=generator,
                scorer_target=scorer,
                query_builder_target=builder,
                retriever_target=dead,
            )
            async with (
                compose.open_ports(settings, breakers=Breakers(LONG_OPEN, watched)) as ports,
                answerer_by("grpc", AdaptiveLoop(ports, default_index="lab")) as answerer,
            ):
                answers = await asyncio.gather(*(answer_of(answerer, request) for _ in range(50)))
                refused_before = watched.refused
                later = await answer_of(answerer, request)
                with pytest.raises(BackendUnavailable, match="is not called") as caught:
                    await answer_of(answerer, AnswerRequest(QUESTION, PolicyRequest("scaar")))
    for answer in (*answers, later):
        assert answer.answer == "London"
        first = answer.sentences[0]
        assert first.text.strip() == "Ada was born in Paris."
        assert first.degraded is not None
        assert first.degraded.reason == "BACKEND_UNAVAILABLE"
    assert later.sentences[0].degraded is not None
    assert f"retriever at {dead} is not called" in later.sentences[0].degraded.message
    # The description of the index, and the retrieval.
    assert watched.refused >= refused_before + 2
    assert watched.turned.count(BreakerState.OPEN) == 1
    assert caught.value.retry_after_s is not None
    assert 0 < caught.value.retry_after_s <= 60.0


async def test_failures_behind_an_orchestrator_do_not_open_its_breaker() -> None:
    gone = BackendUnavailable("the generator is gone", target="dns:///generator:50052")
    behind = ScriptedAnswerer(lambda request: [gone])
    request = AnswerRequest(QUESTION, PolicyRequest("no_retrieval"))
    breakers = Breakers(LONG_OPEN)
    async with (
        serving(OrchestratorServicer(behind)) as (_, target),
        compose.open_answerer(target, breakers=breakers) as answerer,
    ):
        for _ in range(10):
            with pytest.raises(BackendUnavailable, match="the generator is gone"):
                await answer_of(answerer, request)
    assert behind.opened == 10
    with nobody_listening() as dead:
        async with compose.open_answerer(dead, breakers=breakers) as answerer:
            for expected in ("does not answer",) * 3 + ("is not called",) * 3:
                with pytest.raises(BackendUnavailable, match=expected):
                    await answer_of(answerer, request)


async def test_an_orchestrator_that_hangs_opens_the_breaker() -> None:
    hanging = HangingAnswerer(lambda request: [])
    limits = BreakerLimits(failures=1, open_s=60.0, max_open_s=60.0, slow_s=1.0)
    request = AnswerRequest(
        QUESTION, PolicyRequest("no_retrieval"), budget=BudgetLimits(timeout_s=0.5)
    )
    async with (
        serving(OrchestratorServicer(hanging)) as (_, target),
        compose.open_answerer(target, breakers=Breakers(limits)) as answerer,
    ):
        with pytest.raises(DeadlineExceeded):
            await answer_of(answerer, request)
        for _ in range(5):
            with pytest.raises(BackendUnavailable, match="orchestrator at .* is not called"):
                await answer_of(answerer, request)
    assert hanging.entered == 1
