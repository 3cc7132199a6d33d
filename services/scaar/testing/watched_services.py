"""The services of an answer over sockets, each with the telemetry of its settings."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from scaar.core.calls.capacity import AnswerCapacity
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import IndexKeeper
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.server import Servicer, open_server
from scaar.runtime.settings import ServiceSettings
from scaar.telemetry.setup import Telemetry, open_telemetry
from scaar.wire.generator import GeneratorServicer, RemoteGenerator
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer
from scaar.wire.query_builder import QueryBuilderServicer, RemoteQueryBuilder
from scaar.wire.retriever import RemoteRetriever, RetrieverServicer
from scaar.wire.scorer import RemoteScorer, ScorerServicer
from scaar.wire.status import status_of


@dataclass(frozen=True, slots=True)
class WatchedServices:
    """The orchestrator over a socket, and the telemetry of each service by name."""

    answerer: RemoteAnswerer
    target: str
    telemetry: Mapping[str, Telemetry]


@asynccontextmanager
async def watched_services(
    ports: Ports, settings: ServiceSettings, *, trace_content: bool = False
) -> AsyncIterator[WatchedServices]:
    """Run every service of an answer in this process, on its own port, until the block ends.

    With ``trace_content``, spans have the texts of the answer.
    """
    once = ChannelSettings(attempts=1)
    telemetry: dict[str, Telemetry] = {}
    async with AsyncExitStack() as stack:

        async def served(name: str, servicer: Callable[[Telemetry], Servicer]) -> str:
            opening = open_telemetry(settings, service=name, trace_content=trace_content)
            watching = await stack.enter_async_context(opening)
            telemetry[name] = watching
            server = open_server(
                [servicer(watching)],
                "127.0.0.1:0",
                settings,
                status_of=status_of,
                observers=watching.interceptors,
            )
            return (await stack.enter_async_context(server)).target

        generator = await served("generator", lambda _: GeneratorServicer(ports.generator))
        scorer = await served("scorer", lambda _: ScorerServicer(ports.scorer))
        builder = await served("query-builder", lambda _: QueryBuilderServicer(ports.query_builder))
        indexes = cast(IndexKeeper, ports.retriever)
        retriever = await served("retriever", lambda _: RetrieverServicer(indexes))
        channels = [
            await stack.enter_async_context(open_channel(target, settings=once))
            for target in (generator, scorer, builder, retriever)
        ]
        reached = Ports(
            RemoteGenerator(channels[0], generator),
            RemoteScorer(channels[1], scorer),
            RemoteQueryBuilder(channels[2], builder),
            RemoteRetriever(channels[3], retriever),
        )

        def orchestrator(watching: Telemetry) -> Servicer:
            capacity = AnswerCapacity(observer=watching.capacity)
            traced = replace(reached, generator=watching.generator(reached.generator))
            loop = AdaptiveLoop(traced, capacity=capacity, default_index="lab")
            return OrchestratorServicer(watching.watched(loop, resolve=loop.resolve))

        target = await served("orchestrator", orchestrator)
        channel = await stack.enter_async_context(open_channel(target, settings=once))
        yield WatchedServices(RemoteAnswerer(channel, target), target, telemetry)
