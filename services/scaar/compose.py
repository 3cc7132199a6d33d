"""The composition root: targets to open ports, open ports to the loop.

A target is ``embedded`` or the gRPC target of a running service (``dns:///host:port``). The
laptop and the orchestrator's process differ in targets only. An engine is imported where it is
opened, so that a process needs the libraries of its own engines and no others.
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.core.breakers import UNGUARDED, Breakers
from scaar.core.capacity import AnswerCapacity, CapacityLimits
from scaar.core.controls import Control
from scaar.core.errors import AlreadyExists, CapabilityMissing, InvalidRequest, NotFound
from scaar.core.loop import AdaptiveLoop, Ports
from scaar.core.observers import (
    UNOBSERVED,
    UNOBSERVED_BREAKERS,
    UNOBSERVED_CAPACITY,
    BreakerObserver,
    CapacityObserver,
    ScorerObserver,
)
from scaar.core.ports import (
    Answerer,
    ContributionScorer,
    Evaluator,
    Generator,
    QueryBuilder,
    Retriever,
)
from scaar.core.types import IndexDescription, IndexMode, Passage
from scaar.lab.models import LAB_CROSS_ENCODER, LAB_LM, LANGUAGE_MODELS, model_folder
from scaar.lab.passages import passages_of
from scaar.lab.world import build_world
from scaar.orchestrator.gate_file import read_gate
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.breaker_settings import read_breaker_limits
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.channels import ChannelSettings, connected, open_channel
from scaar.runtime.readiness import Need
from scaar.wire import evaluator, generator, orchestrator, query_builder, retriever, scorer

if TYPE_CHECKING:
    from grpc.aio import Channel
    from pydantic import SecretStr

    from scaar.evaluator.longtail.port import GradientModel
    from scaar.evaluator.service.hosting import HostedEvaluator
    from scaar.evaluator.service.watching import EvaluationWatch
    from scaar.evaluator.settings import EvaluatorSettings

EMBEDDED = "embedded"
LAB_SEED = 2000
"""The seed of the world that the index ``lab`` is of."""
LAB_INDEX_VERSION = "1edbffaa06e42555372e9147f166c086f6c63d85cfd403c66793786fbbfe6469"
"""The version of that index, with k1 and b as they are by default."""
_LAB_INDEX_SETTINGS = (0.9, 0.4)


def scaar_home() -> Path:
    """Where data live: ``SCAAR_HOME``, else the user's data folder."""
    if home := os.environ.get("SCAAR_HOME"):
        return Path(home).expanduser()
    from platformdirs import user_data_path

    return user_data_path("scaar", appauthor=False)


@asynccontextmanager
async def _open_channel(
    target: str, service: str = "", *, settings: ChannelSettings | None = None
) -> AsyncIterator["Channel"]:
    """A channel to a service, as the settings ``SCAAR_CHANNEL_*`` have it."""
    credentials = read_channel_credentials()
    async with open_channel(
        target, service=service, settings=settings, credentials=credentials
    ) as channel:
        yield channel


def read_breakers(observer: BreakerObserver = UNOBSERVED_BREAKERS) -> Breakers:
    """The breakers of this process, as the settings ``SCAAR_BREAKER_*`` have them; none if so."""
    return Breakers(read_breaker_limits(), observer)


@asynccontextmanager
async def open_generator(
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = UNGUARDED
) -> AsyncIterator[Generator]:
    """The generator at a target; embedded, the lab's model unless the settings name another.

    A breaker stands before a running one, and before the server of an embedded one.
    """
    if target != EMBEDDED:
        async with _open_channel(target, generator.SERVICE_NAME) as channel:
            remote = generator.RemoteGenerator(channel, target, timeout_s=timeout_s)
            yield breakers.generator(
                remote, target, share_s=timeout_s, connected=connected(channel)
            )
        return
    from scaar.generator.factory import open_generator as open_engine
    from scaar.generator.settings import GeneratorSettings

    settings = GeneratorSettings.read()
    if settings.engine == "onnx" and settings.model in (None, *LANGUAGE_MODELS):
        folder = model_folder(settings.model or LAB_LM)
        settings = settings.model_copy(update={"model": str(folder)})
    async with open_engine(settings) as engine:
        served = settings.engine in ("tgi", "openai")
        yield breakers.generator(engine, settings.engine) if served else engine


@asynccontextmanager
async def open_differentiable(model: str) -> AsyncIterator[tuple[Generator, "GradientModel"]]:
    """A checkpoint of transformers as a generator, and its gradients; one and the same model.

    Device, numbers, threads and chat template are the generator's settings.

    Raises:
        CapabilityMissing: PyTorch or transformers is not installed.
        NotFound: there is no such checkpoint.
        DataCorrupt: it cannot be opened, or differentiated.
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
    try:
        from scaar.generator.engines.transformers import open_differentiable as open_engine
    except ModuleNotFoundError as error:
        text = f"gradients need {error.name}: install scaar[transformers]"
        raise CapabilityMissing(text) from error
    async with open_engine(settings) as opened:
        yield opened


@asynccontextmanager
async def open_scorer(
    target: str = EMBEDDED,
    *,
    timeout_s: float = 60.0,
    observer: ScorerObserver = UNOBSERVED,
    breakers: Breakers = UNGUARDED,
) -> AsyncIterator[ContributionScorer]:
    """The scorer at a target; embedded, the lab's model unless the settings name another.

    A breaker stands before a running one, and before Triton.
    """
    if target != EMBEDDED:
        async with _open_channel(target, scorer.SERVICE_NAME) as channel:
            remote = scorer.RemoteScorer(channel, target, timeout_s=timeout_s)
            yield breakers.scorer(remote, target, share_s=timeout_s, connected=connected(channel))
        return
    from scaar.scorer.factory import open_scorer as open_engine
    from scaar.scorer.settings import ScorerSettings

    settings = ScorerSettings.read()
    folder = settings.model
    if folder is None and settings.engine != "bi_encoder":
        folder = model_folder(LAB_CROSS_ENCODER)
    settings = settings.model_copy(update={"model": folder})
    async with open_engine(settings, observer=observer) as engine:
        served = settings.engine == "triton"
        yield breakers.scorer(engine, settings.engine) if served else engine


@asynccontextmanager
async def open_query_builder(
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = UNGUARDED
) -> AsyncIterator[QueryBuilder]:
    """The query builder at a target; a breaker stands before a running one."""
    if target != EMBEDDED:
        async with _open_channel(target, query_builder.SERVICE_NAME) as channel:
            remote = query_builder.RemoteQueryBuilder(channel, target, timeout_s=timeout_s)
            yield breakers.query_builder(
                remote, target, share_s=timeout_s, connected=connected(channel)
            )
        return
    from scaar.query_builder.factory import open_query_builder as open_engine

    async with open_engine() as engine:
        yield engine


@asynccontextmanager
async def open_retriever(
    target: str = EMBEDDED,
    *,
    timeout_s: float = 60.0,
    encoder: Path | None = None,
    breakers: Breakers = UNGUARDED,
) -> AsyncIterator[Retriever]:
    """The retriever at a target; embedded, over the indexes of :func:`scaar_home`.

    The address of an OpenSearch server (http or https) is a target too: embedded, over its indexes.
    ``encoder`` is the folder of an embedded one's encoder; None for that of the settings. A breaker
    stands before a running one, and before OpenSearch.

    Raises:
        InvalidRequest: an encoder is named for a running retriever.
    """
    served = target.startswith(("http://", "https://"))
    if target != EMBEDDED and not served:
        if encoder is not None:
            text = f"is the running retriever's own at {target}: SCAAR_RETRIEVER_ENCODER there"
            raise InvalidRequest.of("--encoder", f"{text}; give --search or --metric without it")
        async with _open_channel(target, retriever.SERVICE_NAME) as channel:
            remote = retriever.RemoteRetriever(channel, target, timeout_s=timeout_s)
            yield breakers.retriever(
                remote, target, share_s=timeout_s, connected=connected(channel)
            )
        return
    from scaar.retriever.factory import open_retriever as open_engine
    from scaar.retriever.settings import RetrieverSettings

    settings = RetrieverSettings.read(
        engine="opensearch" if served else None,
        opensearch_urls=(target,) if served else None,
        encoder=encoder,
    )
    folder = settings.indexes or scaar_home() / "indexes"
    async with open_engine(settings.model_copy(update={"indexes": folder})) as engine:
        yield guarded_engine(engine, settings.engine, breakers)


def guarded_engine(engine: Retriever, name: str, breakers: Breakers) -> Retriever:
    """An engine of a retriever, behind a breaker where it is a server."""
    return breakers.retriever(engine, name) if name == "opensearch" else engine


@asynccontextmanager
async def open_ports(
    settings: OrchestratorSettings,
    *,
    observer: ScorerObserver = UNOBSERVED,
    breakers: Breakers = UNGUARDED,
) -> AsyncIterator[Ports]:
    """The four ports that the loop works through; the observer is told of an embedded scorer."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        yield Ports(
            generator=await enter(
                open_generator(
                    settings.generator_target,
                    timeout_s=settings.generator_timeout_s,
                    breakers=breakers,
                )
            ),
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
            retriever=await enter(
                open_retriever(
                    settings.retriever_target,
                    timeout_s=settings.retriever_timeout_s,
                    breakers=breakers,
                )
            ),
        )


def build_loop(
    ports: Ports,
    settings: OrchestratorSettings,
    *,
    observer: CapacityObserver = UNOBSERVED_CAPACITY,
) -> AdaptiveLoop:
    """The loop over the ports, as the settings would have it."""
    gate = read_gate(settings.gate_file)
    limits = CapacityLimits(
        max_answers=settings.max_concurrent_calls,
        max_queued=settings.max_queued_answers,
        max_queue_s=settings.max_queue_s,
    )
    capacity = AnswerCapacity(limits, observer=observer)
    return AdaptiveLoop(ports, draft_ahead=settings.draft_ahead, gate=gate, capacity=capacity)


@asynccontextmanager
async def open_control_loops(
    ports: Ports, settings: OrchestratorSettings, controls: Sequence[Control]
) -> AsyncIterator[Mapping[Control, AdaptiveLoop]]:
    """A loop by each control of the scorer, over the same model and index."""
    from scaar.scorer.controls.opening import open_control

    async with AsyncExitStack() as stack:
        loops = {}
        for control in controls:
            scorer = await stack.enter_async_context(open_control(control, ports.scorer))
            loops[control] = build_loop(replace(ports, scorer=scorer), settings)
        yield loops


def needs_of(settings: OrchestratorSettings) -> tuple[Need, ...]:
    """The services without which an orchestrator is not ready.

    No answer comes without the generator, and no query without the builder. Without scorer or
    retriever there are answers still, of the policies that do not use them; the others end with
    the error of what does not answer.
    """
    needed = (
        (settings.generator_target, generator.SERVICE_NAME),
        (settings.query_builder_target, query_builder.SERVICE_NAME),
    )
    credentials = read_channel_credentials()
    return tuple(
        Need(target, service, credentials) for target, service in needed if target != EMBEDDED
    )


@asynccontextmanager
async def open_answerer(
    target: str = EMBEDDED, *, breakers: Breakers = UNGUARDED
) -> AsyncIterator[Answerer]:
    """A running orchestrator, or the loop with everything embedded and the lab's index at hand."""
    if target != EMBEDDED:
        # The orchestrator itself tries again what it depends on: retries have one layer. One that
        # is not ready is asked all the same: its error says what it misses.
        async with _open_channel(target, settings=ChannelSettings(attempts=1)) as channel:
            remote = orchestrator.RemoteAnswerer(channel, target)
            yield breakers.answerer(remote, target, connected=connected(channel))
        return
    settings = OrchestratorSettings.read()
    async with open_ports(settings, breakers=breakers) as ports:
        if settings.retriever_target == EMBEDDED and indexes_are_local():
            await ensure_lab_index(ports.retriever)
        yield build_loop(ports, settings)


@asynccontextmanager
async def open_evaluator(target: str) -> AsyncIterator[Evaluator]:
    """The running evaluator at a target."""
    async with _open_channel(target, evaluator.SERVICE_NAME) as channel:
        yield evaluator.RemoteEvaluator(channel, target)


@asynccontextmanager
async def open_hosted_evaluator(
    settings: "EvaluatorSettings",
    *,
    breakers: Breakers = UNGUARDED,
    watch: "EvaluationWatch | None" = None,
) -> AsyncIterator["HostedEvaluator"]:
    """An evaluator in this process, over its database and whatever answers."""
    from scaar.evaluator.service.opening import open_evaluator as open_service
    from scaar.evaluator.service.watching import UNWATCHED

    async with (
        open_answerer(settings.orchestrator_target, breakers=breakers) as answerer,
        open_service(
            settings,
            answerer,
            database_url=evaluator_database(settings),
            broker_url=evaluator_broker(settings) if settings.executor == "celery" else "",
            lab_index=lab_index_name,
            watch=watch or UNWATCHED,
        ) as hosted,
    ):
        yield hosted


def evaluator_broker(settings: "EvaluatorSettings") -> str:
    """The URL of the workers' broker, password and all.

    Raises:
        InvalidRequest: it is not given, or twice, or its file cannot be read.
    """
    if found := _secret_url("broker", settings.broker, settings.broker_file):
        return found
    raise InvalidRequest.of("broker", "must be set for workers: redis://HOST:PORT/NUMBER")


def evaluator_database(settings: "EvaluatorSettings") -> str:
    """The URL of the database of evaluations, password and all.

    Raises:
        InvalidRequest: it is given twice, or its file cannot be read.
    """
    found = _secret_url("database", settings.database, settings.database_file)
    return found or f"sqlite:///{scaar_home() / 'evaluations.sqlite'}"


def _secret_url(name: str, given: "SecretStr | None", file: Path | None) -> str:
    if given is not None and file is not None:
        raise InvalidRequest.of(f"{name}_file", f"goes without {name}")
    if file is not None:
        try:
            return file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest.of(f"{name}_file", f"{file} cannot be read: {error}") from error
    return "" if given is None else given.get_secret_value()


def indexes_are_local() -> bool:
    """Whether the embedded retriever's indexes are files here. A server's are others' too."""
    from scaar.retriever.settings import RetrieverSettings

    return RetrieverSettings.read().engine == "bm25s"


def lab_index_name(seed: int) -> str:
    """The name of the index of a lab world's passages."""
    return "lab" if seed == LAB_SEED else f"lab-{seed}"


async def ensure_lab_index(target: Retriever, seed: int = LAB_SEED) -> IndexDescription:
    """The index of a lab world's passages, built if it is not there or is of an earlier world."""
    name = lab_index_name(seed)
    try:
        found = await target.describe_index(name)
    except NotFound:
        # Another process may have been faster; its index is the same.
        with suppress(AlreadyExists):
            return (await target.index_passages(name, _lab_passages(seed))).index
        return await target.describe_index(name)
    if seed == LAB_SEED and _is_current(found):
        return found
    # One of the same content stays as it is.
    replaced = await target.index_passages(name, _lab_passages(seed), mode=IndexMode.REPLACE)
    return replaced.index


def _is_current(found: IndexDescription) -> bool:
    """Whether the default world's index is of the world as it is now, as far as can be told."""
    settings_are_others = (found.k1, found.b) != _LAB_INDEX_SETTINGS
    return settings_are_others or found.version == LAB_INDEX_VERSION


async def _lab_passages(seed: int) -> AsyncIterator[Passage]:
    for passage in passages_of(build_world(seed)):
        yield Passage(passage.id, passage.title, passage.text)
