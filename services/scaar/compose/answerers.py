"""Opens orchestrators: remote ones, and loops in this process."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from scaar.compose.indexes import ensure_default_indexes, indexes_are_local
from scaar.compose.loop import (
    build_catalog,
    build_loop,
    open_control_loops,
    open_files,
    read_policies,
)
from scaar.compose.ports import open_ports
from scaar.compose.targets import EMBEDDED, open_service_channel
from scaar.core.calls.breakers import NO_BREAKERS, Breakers
from scaar.core.controls import Control
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.policies.artefacts import TunedPolicies, described_policies
from scaar.core.ports import Answerer, Catalog
from scaar.core.types import PolicyArtefact
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.channels import ChannelSettings, connected
from scaar.wire import orchestrator

if TYPE_CHECKING:
    from scaar.evaluator.execution.scorers import Answerers


@asynccontextmanager
async def open_answerer(
    target: str = EMBEDDED,
    *,
    breakers: Breakers = NO_BREAKERS,
    artefacts: Sequence[PolicyArtefact] = (),
) -> AsyncIterator[Answerer]:
    """Open a remote orchestrator, or a loop with embedded ports and the default indexes.

    ``artefacts`` are tuned policies of the loop, beside those of its settings.
    """
    if target != EMBEDDED:
        # The orchestrator retries the calls of its dependencies: retries have one layer. The
        # channel does not check readiness, because the error of an orchestrator that is not ready
        # names the missing service.
        async with open_service_channel(target, settings=ChannelSettings(attempts=1)) as channel:
            remote = orchestrator.RemoteAnswerer(channel, target)
            yield breakers.answerer(remote, target, connected=connected(channel))
        return
    async with open_orchestrator(breakers=breakers, artefacts=artefacts) as (loop, _):
        yield loop


@asynccontextmanager
async def open_catalog(target: str) -> AsyncIterator[Catalog]:
    """Open the catalog of a running orchestrator."""
    async with open_service_channel(target, settings=ChannelSettings(attempts=1)) as channel:
        yield orchestrator.RemoteCatalog(channel, target)


async def tuned_policies_of(target: str) -> TunedPolicies:
    """Return the tuned policies of the orchestrator at a target, or of the embedded one."""
    if target == EMBEDDED:
        return read_policies(OrchestratorSettings.read())
    async with open_catalog(target) as catalog:
        return described_policies(await catalog.list_policies())


@asynccontextmanager
async def open_answerers(
    target: str, control_targets: Mapping[Control, str], *, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[tuple["Answerers", "Answerers | None"]]:
    """Open an answerer, and one for each control of the scorer that is available.

    The second value has the same with cached generations, if the answerers are embedded. Embedded
    ones have every control whose libraries are installed.
    """
    from scaar.evaluator.execution.scorers import Answerers

    async with AsyncExitStack() as stack:
        if target == EMBEDDED:
            from scaar.scorer.controls.factory import control_is_installed

            settings = OrchestratorSettings.read()
            files = open_files(settings)
            ports = await stack.enter_async_context(_open_ports_and_indexes(settings, breakers))
            from scaar.evaluator.execution.generation_cache import CachedGenerator

            controls = [control for control in Control if control_is_installed(control)]
            caching = replace(ports, generator=CachedGenerator(ports.generator))
            found = [
                Answerers(
                    build_loop(each, settings, files=files),
                    await stack.enter_async_context(
                        open_control_loops(each, settings, controls, files=files)
                    ),
                )
                for each in (ports, caching)
            ]
            yield found[0], found[1]
            return
        answerer, *others = [
            await stack.enter_async_context(open_answerer(each, breakers=breakers))
            for each in (target, *control_targets.values())
        ]
        yield Answerers(answerer, dict(zip(control_targets, others, strict=True))), None


@asynccontextmanager
async def open_orchestrator(
    *, breakers: Breakers = NO_BREAKERS, artefacts: Sequence[PolicyArtefact] = ()
) -> AsyncIterator[tuple[AdaptiveLoop, PortsCatalog]]:
    """Open an orchestrator in this process: its loop and its catalog, with the default indexes.

    ``artefacts`` are tuned policies beside those of the settings.
    """
    settings = OrchestratorSettings.read()
    files = open_files(settings, artefacts)
    async with _open_ports_and_indexes(settings, breakers) as ports:
        loop = build_loop(ports, settings, files=files)
        yield loop, build_catalog(ports, loop)


@asynccontextmanager
async def _open_ports_and_indexes(
    settings: OrchestratorSettings, breakers: Breakers
) -> AsyncIterator[Ports]:
    """Open the four ports, with the default indexes if indexes are in this machine's folder."""
    async with open_ports(settings, breakers=breakers) as ports:
        if settings.retriever_target == EMBEDDED and indexes_are_local():
            await ensure_default_indexes()
        yield ports
