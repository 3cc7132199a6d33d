"""Opens the generator, the scorer and the query builder, and the four ports of the loop."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from scaar.compose.defaults import MissingScorer, with_default_language_model, with_default_scorer
from scaar.compose.indexes import open_retriever
from scaar.compose.targets import EMBEDDED, open_service_channel
from scaar.core.calls.breakers import NO_BREAKERS, Breakers
from scaar.core.distributions import library_required
from scaar.core.errors import CapabilityMissing
from scaar.core.loop.loop import Ports
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.core.ports import ContributionScorer, Generator, QueryBuilder, Retriever
from scaar.core.validation import MAX_TIMEOUT_S
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.channels import connected
from scaar.wire import generator, query_builder, scorer

if TYPE_CHECKING:
    from scaar.evaluator.studies.longtail.gradients import GradientModel


@asynccontextmanager
async def open_generator(
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[Generator]:
    """Open the generator at a target; embedded, by default with a provider's model.

    A remote generator, and a server behind an embedded one, have a breaker.
    """
    if target != EMBEDDED:
        async with open_service_channel(target, generator.SERVICE_NAME) as channel:
            remote = generator.RemoteGenerator(channel, target, timeout_s=timeout_s)
            yield breakers.generator(
                remote, target, share_s=timeout_s, connected=connected(channel)
            )
        return
    from scaar.generator.factory import open_generator as open_engine
    from scaar.generator.settings import GeneratorSettings

    settings = with_default_language_model(GeneratorSettings.read())
    async with open_engine(settings) as engine:
        served = settings.engine in ("tgi", "openai")
        yield breakers.generator(engine, settings.engine) if served else engine


@asynccontextmanager
async def open_differentiable(model: str) -> AsyncIterator[tuple[Generator, "GradientModel"]]:
    """Open a checkpoint of transformers as a generator and as a source of gradients.

    Device, number format, threads and chat template are those of the generator's settings.

    Raises:
        CapabilityMissing: PyTorch or transformers is not installed.
        NotFound: the checkpoint does not exist.
        DataCorrupt: the checkpoint cannot be opened or differentiated.
    """
    from scaar.generator.settings import GeneratorSettings

    read = GeneratorSettings.read()
    settings = GeneratorSettings(
        engine="transformers",
        model=model,
        device=read.device,
        dtype=read.dtype,
        attention=False,
        chat_template=read.chat_template,
        threads=read.threads,
    )
    with library_required("a computation of gradients", "transformers"):
        from scaar.generator.engines.transformers import open_differentiable as open_engine
    async with open_engine(settings) as opened:
        yield opened


@asynccontextmanager
async def open_scorer(
    target: str = EMBEDDED,
    *,
    timeout_s: float = 60.0,
    observer: ScorerObserver = UNOBSERVED,
    breakers: Breakers = NO_BREAKERS,
) -> AsyncIterator[ContributionScorer]:
    """Open the scorer at a target; embedded, by default with a provider's model.

    A remote scorer, and Triton behind an embedded one, have a breaker.
    """
    if target != EMBEDDED:
        async with open_service_channel(target, scorer.SERVICE_NAME) as channel:
            remote = scorer.RemoteScorer(channel, target, timeout_s=timeout_s)
            yield breakers.scorer(remote, target, share_s=timeout_s, connected=connected(channel))
        return
    from scaar.scorer.factory import open_scorer as open_engine
    from scaar.scorer.settings import ScorerSettings

    try:
        settings = with_default_scorer(ScorerSettings.read())
    except CapabilityMissing as error:
        yield MissingScorer(error)
        return
    async with open_engine(settings, observer=observer) as engine:
        served = settings.engine == "triton"
        yield breakers.scorer(engine, settings.engine) if served else engine


@asynccontextmanager
async def open_query_builder(
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[QueryBuilder]:
    """Open the query builder at a target. A remote query builder has a breaker."""
    if target != EMBEDDED:
        async with open_service_channel(target, query_builder.SERVICE_NAME) as channel:
            remote = query_builder.RemoteQueryBuilder(channel, target, timeout_s=timeout_s)
            yield breakers.query_builder(
                remote, target, share_s=timeout_s, connected=connected(channel)
            )
        return
    from scaar.query_builder.factory import open_query_builder as open_engine

    async with open_engine() as engine:
        yield engine


@asynccontextmanager
async def open_ports(
    settings: OrchestratorSettings,
    *,
    observer: ScorerObserver = UNOBSERVED,
    breakers: Breakers = NO_BREAKERS,
    opened: Generator | None = None,
    indexes: Retriever | None = None,
) -> AsyncIterator[Ports]:
    """Open the four ports of the loop. The observer receives the events of an embedded scorer.

    ``opened`` is a generator that is open, and ``indexes`` a retriever, instead of those of the
    settings.
    """
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        if opened is None:
            opened = await enter(
                open_generator(
                    settings.generator_target,
                    timeout_s=MAX_TIMEOUT_S,
                    breakers=breakers,
                )
            )
        if indexes is None:
            indexes = await enter(
                open_retriever(
                    settings.retriever_target,
                    timeout_s=settings.retriever_timeout_s,
                    breakers=breakers,
                )
            )
        yield Ports(
            generator=opened,
            scorer=await enter(
                open_scorer(
                    settings.scorer_target,
                    timeout_s=settings.scorer_timeout_s,
                    observer=observer,
                    breakers=breakers,
                )
            ),
            query_builder=await enter(
                open_query_builder(
                    settings.query_builder_target,
                    timeout_s=settings.query_builder_timeout_s,
                    breakers=breakers,
                )
            ),
            retriever=indexes,
        )
