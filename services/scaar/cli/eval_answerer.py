"""What answers in an evaluation: running orchestrators, or the loop with the right index."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from scaar.cli.eval_targets import Targets
from scaar.compose import (
    EMBEDDED,
    LAB_SEED,
    build_loop,
    ensure_lab_index,
    indexes_are_local,
    open_answerer,
    open_control_loops,
    open_ports,
)
from scaar.core.controls import Control
from scaar.core.ports import Answerer
from scaar.evaluator.execution.kept_generations import KeptGenerations
from scaar.orchestrator.settings import OrchestratorSettings


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Whoever answers by the scorer itself, and by each control of it."""

    answerer: Answerer
    controls: Mapping[Control, Answerer]


@asynccontextmanager
async def open_evaluated(
    targets: Targets,
    *,
    lab_world: int | None,
    controls: Sequence[Control] = (),
    keep_generations: bool = False,
) -> AsyncIterator[Evaluated]:
    """The answerers at the targets; embedded, with the index of the lab's world at hand."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        if targets.itself != EMBEDDED:
            yield Evaluated(
                await enter(open_answerer(targets.itself)),
                {each: await enter(open_answerer(targets.controls[each])) for each in controls},
            )
            return
        settings = OrchestratorSettings.read()
        ports = await enter(open_ports(settings))
        if keep_generations:
            ports = replace(ports, generator=KeptGenerations(ports.generator))
        if settings.retriever_target == EMBEDDED and indexes_are_local():
            await ensure_lab_index(ports.retriever, LAB_SEED if lab_world is None else lab_world)
        loops = await enter(open_control_loops(ports, settings, controls))
        yield Evaluated(build_loop(ports, settings), loops)
