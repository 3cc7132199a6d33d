"""The answerers of an evaluation: running orchestrators, or the embedded loop."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from scaar.compose import (
    EMBEDDED,
    LAB_SEED,
    build_loop,
    ensure_lab_index,
    indexes_are_local,
    open_answerer,
    open_control_loops,
    open_files,
    open_ports,
)
from scaar.core.controls import Control
from scaar.core.types import PolicyArtefact
from scaar.evaluation.addresses import Addresses
from scaar.evaluator.execution.generation_cache import CachedGenerator
from scaar.evaluator.execution.scorers import Answerers
from scaar.orchestrator.settings import OrchestratorSettings


@asynccontextmanager
async def open_answerers(
    addresses: Addresses,
    *,
    lab_world: int | None,
    controls: Sequence[Control] = (),
    cache_generations: bool = False,
    artefacts: Sequence[PolicyArtefact] = (),
) -> AsyncIterator[Answerers]:
    """Open the answerers at the addresses; embedded ones build the lab's index if needed.

    ``artefacts`` are tuned policies of embedded ones.
    """
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        if addresses.itself != EMBEDDED:
            yield Answerers(
                await enter(open_answerer(addresses.itself)),
                {each: await enter(open_answerer(addresses.controls[each])) for each in controls},
            )
            return
        settings = OrchestratorSettings.read()
        files = open_files(settings, artefacts)
        ports = await enter(open_ports(settings))
        if cache_generations:
            ports = replace(ports, generator=CachedGenerator(ports.generator))
        if settings.retriever_target == EMBEDDED and indexes_are_local():
            await ensure_lab_index(LAB_SEED if lab_world is None else lab_world)
        loops = await enter(open_control_loops(ports, settings, controls, files=files))
        yield Answerers(build_loop(ports, settings, files=files), loops)
