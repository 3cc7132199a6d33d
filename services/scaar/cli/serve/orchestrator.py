"""The orchestrator as a service, over parts of this process or of others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from scaar import compose
from scaar.core.calls.breakers import Breakers
from scaar.core.loop.loop import Ports
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.telemetry.setup import Telemetry
from scaar.wire.orchestrator import OrchestratorServicer


@asynccontextmanager
async def open_orchestrator(
    settings: OrchestratorSettings, telemetry: Telemetry, breakers: Breakers
) -> AsyncIterator[OrchestratorServicer]:
    """Open the orchestrator and the ports of its settings.

    Raises:
        InvalidRequest: a setting or a file of the settings is invalid.
        ScorerMismatch, CapabilityMissing: the default policy has no scorer that fits the model.
    """
    # Report invalid files before a model is loaded.
    files = compose.open_files(settings)
    async with (
        compose.open_ports(settings, observer=telemetry.scorer, breakers=breakers) as ports,
        orchestrator_over(ports, settings, telemetry, files=files) as servicer,
    ):
        yield servicer


@asynccontextmanager
async def orchestrator_over(
    ports: Ports,
    settings: OrchestratorSettings,
    telemetry: Telemetry,
    *,
    files: compose.OrchestratorFiles,
) -> AsyncIterator[OrchestratorServicer]:
    """Open the orchestrator over open ports, as :func:`open_orchestrator`."""
    await compose.check_scorer(ports, settings, files.policies)
    limited = compose.with_access_rules(ports, settings)
    limited = replace(limited, generator=telemetry.generator(limited.generator))
    loop = compose.build_loop(
        limited,
        settings,
        files=files,
        observer=telemetry.capacity,
        policy_observer=telemetry.policies,
    )
    catalog = compose.build_catalog(limited, loop)
    answerer = compose.with_filter_limits(loop, settings)
    async with compose.open_recorder(settings, telemetry.records) as recording:
        watches = () if recording is None else (recording,)
        answerer = telemetry.watched(answerer, resolve=loop.resolve, others=watches)
        limit_s = settings.answer_timeout_s or None
        yield OrchestratorServicer(answerer, catalog, judge=loop, answer_timeout_s=limit_s)
