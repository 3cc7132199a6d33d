"""The composition root: opens ports at targets, and builds the loop over them.

A target is ``embedded`` or the gRPC target of a running service (``dns:///host:port``). A laptop
and the process of an orchestrator differ in their targets only. An engine is imported where it is
opened, so that a process needs only the libraries of its own engines.
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scaar import __version__
from scaar.core.calls.breakers import NO_BREAKERS, Breakers
from scaar.core.calls.capacity import AnswerCapacity, CapacityLimits
from scaar.core.controls import Control
from scaar.core.distributions import lab_is_installed, lab_required, library_required
from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound
from scaar.core.gates import QuestionGate
from scaar.core.gates.skr import SkrGate
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.loop.shadow import ShadowSampling
from scaar.core.observers import (
    UNOBSERVED,
    UNOBSERVED_BREAKERS,
    UNOBSERVED_CAPACITY,
    UNOBSERVED_POLICIES,
    BreakerObserver,
    CapacityObserver,
    PolicyObserver,
    ScorerObserver,
)
from scaar.core.policies.artefacts import TunedPolicies, described_policies
from scaar.core.ports import (
    Answerer,
    Catalog,
    ContributionScorer,
    Evaluator,
    Generator,
    IndexKeeper,
    QueryBuilder,
    Retriever,
)
from scaar.core.types import IndexDescription, IndexMode, Passage, PolicyArtefact
from scaar.orchestrator.settings import OrchestratorSettings, read_artefact
from scaar.runtime.breaker_settings import read_breaker_limits
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.channels import ChannelSettings, connected, open_channel
from scaar.runtime.readiness import Need
from scaar.runtime.targets import check_target
from scaar.wire import evaluator, generator, orchestrator, query_builder, retriever, scorer

if TYPE_CHECKING:
    from grpc.aio import Channel
    from pydantic import SecretStr

    from scaar.evaluator.execution.scorers import Answerers
    from scaar.evaluator.service.evaluator import HostedEvaluator
    from scaar.evaluator.service.setup import EvaluationHooks
    from scaar.evaluator.settings import EvaluatorSettings
    from scaar.evaluator.studies.longtail.gradients import GradientModel
    from scaar.retriever.factory import Engine
    from scaar.retriever.settings import RetrieverSettings

EMBEDDED = "embedded"
FOLDER = "embedded:"
"""Prefix of the target of an evaluator over a folder in this process, ``embedded:DIR``."""
LAB_SEED = 2000
"""Seed of the world of the index ``lab``."""
LAB_INDEX_VERSION = "1edbffaa06e42555372e9147f166c086f6c63d85cfd403c66793786fbbfe6469"
"""Version of the index ``lab`` with the default k1 and b."""
_LAB_INDEX_SETTINGS = (0.9, 0.4)


def scaar_home() -> Path:
    """Return the data folder: ``SCAAR_HOME``, else the user's data folder."""
    if home := os.environ.get("SCAAR_HOME"):
        return Path(home).expanduser()
    from platformdirs import user_data_path

    return user_data_path("scaar", appauthor=False)


@asynccontextmanager
async def _open_channel(
    target: str, service: str = "", *, settings: ChannelSettings | None = None
) -> AsyncIterator["Channel"]:
    """Open a channel to a service, with the settings ``SCAAR_CHANNEL_*``."""
    credentials = read_channel_credentials()
    check_target(target)
    async with open_channel(
        target, service=service, settings=settings, credentials=credentials
    ) as channel:
        yield channel


def read_breakers(observer: BreakerObserver = UNOBSERVED_BREAKERS) -> Breakers:
    """Return the breakers of this process, with the settings ``SCAAR_BREAKER_*``."""
    return Breakers(read_breaker_limits(), observer)


@asynccontextmanager
async def open_generator(
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[Generator]:
    """Open the generator at a target; embedded, by default with the lab's model.

    A remote generator, and a server behind an embedded one, have a breaker.
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
    if settings.engine == "onnx" and (folder := _lab_language_model(settings.model)):
        settings = settings.model_copy(update={"model": str(folder)})
    async with open_engine(settings) as engine:
        served = settings.engine in ("tgi", "openai")
        yield breakers.generator(engine, settings.engine) if served else engine


def _lab_language_model(name: str | None) -> Path | None:
    """Return the folder of a lab model, by default of the first; None for other models."""
    if name is not None and not lab_is_installed():
        return None
    with lab_required("a generator without SCAAR_GENERATOR_MODEL"):
        from scaar.lab.models import LAB_LM, LANGUAGE_MODELS, model_folder
    return model_folder(name or LAB_LM) if name in (None, *LANGUAGE_MODELS) else None


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
    """Open the scorer at a target; embedded, by default with the lab's model.

    A remote scorer, and Triton behind an embedded one, have a breaker.
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
        with lab_required("a scorer without SCAAR_SCORER_MODEL"):
            from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
        folder = model_folder(LAB_CROSS_ENCODER)
    settings = settings.model_copy(update={"model": folder})
    async with open_engine(settings, observer=observer) as engine:
        served = settings.engine == "triton"
        yield breakers.scorer(engine, settings.engine) if served else engine


@asynccontextmanager
async def open_query_builder(
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[QueryBuilder]:
    """Open the query builder at a target. A remote query builder has a breaker."""
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
    target: str = EMBEDDED, *, timeout_s: float = 60.0, breakers: Breakers = NO_BREAKERS
) -> AsyncIterator[Retriever]:
    """Open the retriever at a target; embedded, with the indexes of :func:`scaar_home`.

    The URL of an OpenSearch server (http or https) opens an embedded retriever with its indexes.
    A remote retriever, and OpenSearch behind an embedded one, have a breaker.
    """
    if target != EMBEDDED and not _is_url(target):
        async with _open_channel(target, retriever.SERVICE_NAME) as channel:
            remote = retriever.RemoteRetriever(channel, target, timeout_s=timeout_s)
            yield breakers.retriever(
                remote, target, share_s=timeout_s, connected=connected(channel)
            )
        return
    settings = _retriever_settings(target)
    async with open_embedded_indexes(settings) as engine:
        yield with_breaker(engine, settings.engine, breakers)


@asynccontextmanager
async def open_indexes(
    target: str = EMBEDDED, *, encoder: Path | None = None
) -> AsyncIterator[IndexKeeper]:
    """Open the indexes of the retriever at a target, to build, change or search them.

    ``encoder`` is the folder of the encoder of an embedded retriever; the default is that of the
    settings.

    Raises:
        InvalidRequest: an encoder is named for a remote retriever.
    """
    if target == EMBEDDED or _is_url(target):
        async with open_embedded_indexes(_retriever_settings(target, encoder)) as engine:
            yield engine
        return
    if encoder is not None:
        text = f"is the running retriever's own at {target}: SCAAR_RETRIEVER_ENCODER there"
        raise InvalidRequest.of("--encoder", f"{text}; give --search or --metric without it")
    async with _open_channel(target, retriever.SERVICE_NAME) as channel:
        yield retriever.RemoteRetriever(channel, target)


@asynccontextmanager
async def open_embedded_indexes(settings: "RetrieverSettings") -> AsyncIterator["Engine"]:
    """Open the retriever of the settings in this process; bm25s reads :func:`scaar_home`."""
    from scaar.retriever.factory import open_retriever as open_engine

    folder = settings.indexes or scaar_home() / "indexes"
    async with open_engine(settings.model_copy(update={"indexes": folder})) as engine:
        yield engine


def _retriever_settings(target: str, encoder: Path | None = None) -> "RetrieverSettings":
    from scaar.retriever.settings import RetrieverSettings

    served = _is_url(target)
    return RetrieverSettings.read(
        engine="opensearch" if served else None,
        opensearch_urls=(target,) if served else None,
        encoder=encoder,
    )


def _is_url(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def with_breaker(engine: IndexKeeper, name: str, breakers: Breakers) -> Retriever:
    """Return the engine of a retriever, behind a breaker if the engine is a server."""
    return breakers.retriever(engine, name) if name == "opensearch" else engine


@asynccontextmanager
async def open_ports(
    settings: OrchestratorSettings,
    *,
    observer: ScorerObserver = UNOBSERVED,
    breakers: Breakers = NO_BREAKERS,
) -> AsyncIterator[Ports]:
    """Open the four ports of the loop. The observer receives the events of an embedded scorer."""
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
    policy_observer: PolicyObserver = UNOBSERVED_POLICIES,
    artefacts: Sequence[PolicyArtefact] = (),
) -> AdaptiveLoop:
    """Return the loop over the ports, with the settings.

    ``artefacts`` are tuned policies beside those of the settings.
    """
    gate, policies = open_gate(settings), read_policies(settings, artefacts)
    for each in policies.values():
        policy_observer.on_tuned_policy(each.name, each.expected)
    shadow = None
    if settings.shadow_policy:
        shadow = ShadowSampling(
            policies, settings.shadow_policy, settings.shadow_share, observer=policy_observer
        )
    limits = CapacityLimits(
        max_answers=settings.max_concurrent_calls,
        max_queued=settings.max_queued_answers,
        max_queue_s=settings.max_queue_s,
    )
    capacity = AnswerCapacity(limits, observer=observer)
    return AdaptiveLoop(
        ports,
        draft_ahead=settings.draft_ahead,
        gate=gate,
        policies=policies,
        shadow=shadow,
        capacity=capacity,
    )


def open_gate(settings: OrchestratorSettings) -> QuestionGate | None:
    """Return the gate of an orchestrator, that of SKR with its encoder; None without a file.

    Raises:
        NotFound: a file does not exist or cannot be read.
        DataCorrupt: the file contains no gate, or the encoder is damaged.
        InvalidRequest: the gate needs an encoder, or another one.
        CapabilityMissing: the libraries of the encoder are not installed.
    """
    gate = settings.read_gate()
    if not isinstance(gate, SkrGate):
        return gate
    if settings.gate_encoder is None:
        text = f"is required by the gate {gate.name}: the folder of {gate.vectors.encoder}"
        raise InvalidRequest.of("gate_encoder", text)
    with library_required(f"the gate {gate.name}", "scorer"):
        from scaar.encoders.nearest_questions import open_nearest_questions
    return replace(gate, nearest=open_nearest_questions(gate.vectors, settings.gate_encoder))


def read_policies(
    settings: OrchestratorSettings, artefacts: Sequence[PolicyArtefact] = ()
) -> TunedPolicies:
    """Return the tuned policies of an orchestrator: those of its folder, and the given artefacts.

    Without a folder, an orchestrator with an embedded lab model has the policies tuned on it.

    Raises:
        InvalidRequest: naming every file without a valid artefact, every name that two artefacts
            have, and an unknown default policy.
    """
    named = {each.name for each in artefacts}
    shipped = (each for each in _lab_artefacts(settings) if each.name not in named)
    return settings.read_policies((*shipped, *artefacts))


def _lab_artefacts(settings: OrchestratorSettings) -> tuple[PolicyArtefact, ...]:
    """Return the artefacts beside the lab model of an embedded generator."""
    embedded = settings.generator_target == EMBEDDED and settings.policy_folder is None
    if not embedded or not lab_is_installed():
        return ()
    from scaar.generator.settings import GeneratorSettings

    model = GeneratorSettings.read()
    folder = _lab_language_model(model.model) if model.engine == "onnx" else None
    if folder is None:
        return ()
    return tuple(read_artefact(each) for each in sorted((folder / "policies").glob("*.json")))


def build_catalog(ports: Ports, loop: AdaptiveLoop) -> PortsCatalog:
    """Return the catalog of the ports that the loop uses."""
    return PortsCatalog(
        ports,
        version=__version__,
        gate_revision=loop.gate_revision,
        policies=loop.policies,
    )


@asynccontextmanager
async def open_control_loops(
    ports: Ports,
    settings: OrchestratorSettings,
    controls: Sequence[Control],
    *,
    artefacts: Sequence[PolicyArtefact] = (),
) -> AsyncIterator[Mapping[Control, AdaptiveLoop]]:
    """Open a loop for each control of the scorer, over the same model and index."""
    from scaar.scorer.controls.factory import open_control

    async with AsyncExitStack() as stack:
        loops = {}
        for control in controls:
            scorer = await stack.enter_async_context(open_control(control, ports.scorer))
            controlled = replace(ports, scorer=scorer)
            loops[control] = build_loop(controlled, settings, artefacts=artefacts)
        yield loops


def needs_of(settings: OrchestratorSettings) -> tuple[Need, ...]:
    """Return the services that an orchestrator requires to be ready.

    Every answer needs the generator, and every query the query builder. Without scorer or
    retriever, policies that do not use them still answer; the others fail with BackendUnavailable.
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
    target: str = EMBEDDED,
    *,
    breakers: Breakers = NO_BREAKERS,
    artefacts: Sequence[PolicyArtefact] = (),
) -> AsyncIterator[Answerer]:
    """Open a remote orchestrator, or a loop with embedded ports and the lab's index.

    ``artefacts`` are tuned policies of the loop, beside those of its settings.
    """
    if target != EMBEDDED:
        # The orchestrator retries the calls of its dependencies: retries have one layer. The
        # channel does not check readiness, because the error of an orchestrator that is not ready
        # names the missing service.
        async with _open_channel(target, settings=ChannelSettings(attempts=1)) as channel:
            remote = orchestrator.RemoteAnswerer(channel, target)
            yield breakers.answerer(remote, target, connected=connected(channel))
        return
    async with open_orchestrator(breakers=breakers, artefacts=artefacts) as (loop, _):
        yield loop


@asynccontextmanager
async def open_catalog(target: str) -> AsyncIterator[Catalog]:
    """Open the catalog of a running orchestrator."""
    async with _open_channel(target, settings=ChannelSettings(attempts=1)) as channel:
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
            ports = await stack.enter_async_context(_open_lab_ports(settings, breakers))
            from scaar.evaluator.execution.generation_cache import CachedGenerator

            controls = [control for control in Control if control_is_installed(control)]
            caching = replace(ports, generator=CachedGenerator(ports.generator))
            found = [
                Answerers(
                    build_loop(each, settings),
                    await stack.enter_async_context(open_control_loops(each, settings, controls)),
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
    """Open an orchestrator in this process: its loop and its catalog, with the lab's index.

    ``artefacts`` are tuned policies beside those of the settings.
    """
    settings = OrchestratorSettings.read()
    async with _open_lab_ports(settings, breakers) as ports:
        loop = build_loop(ports, settings, artefacts=artefacts)
        yield loop, build_catalog(ports, loop)


@asynccontextmanager
async def _open_lab_ports(
    settings: OrchestratorSettings, breakers: Breakers
) -> AsyncIterator[Ports]:
    """Open the four ports, with the lab's index if indexes are in this machine's folder."""
    async with open_ports(settings, breakers=breakers) as ports:
        if settings.retriever_target == EMBEDDED and indexes_are_local() and lab_is_installed():
            await ensure_lab_index()
        yield ports


@asynccontextmanager
async def open_evaluator(target: str, *, run: bool = False) -> AsyncIterator[Evaluator]:
    """Open the remote evaluator at a target, or for ``embedded:DIR`` one in this process.

    The evaluator of a folder has the database ``DIR/evaluations.sqlite``. With ``run``, it runs
    the unfinished evaluations while it is open, in one process at a time, and creates the folder;
    without it, evaluations can be read and cancelled from any number of processes.

    Raises:
        InvalidRequest: another process runs the evaluations of the folder.
        NotFound: the folder has no evaluations to read.
    """
    if not target.startswith(FOLDER):
        async with _open_channel(target, evaluator.SERVICE_NAME) as channel:
            yield evaluator.RemoteEvaluator(channel, target)
        return
    from scaar.evaluator.service.folder import open_folder
    from scaar.evaluator.settings import EvaluatorSettings

    with open_folder(Path(target.removeprefix(FOLDER)), EvaluatorSettings.read(), run) as settings:
        if run:
            async with open_hosted_evaluator(settings, exclusive=True) as hosted:
                yield hosted
        else:
            from scaar.evaluator.service.setup import open_stored_evaluations

            url = evaluator_database(settings)
            async with open_stored_evaluations(settings, url, lab_index_name) as stored:
                yield stored


@asynccontextmanager
async def open_hosted_evaluator(
    settings: "EvaluatorSettings",
    *,
    breakers: Breakers = NO_BREAKERS,
    hooks: "EvaluationHooks | None" = None,
    exclusive: bool = False,
) -> AsyncIterator["HostedEvaluator"]:
    """Open an evaluator in this process, with its database and its answerer.

    ``exclusive`` says that no other process runs evaluations of the database.
    """
    from scaar.evaluator.service.setup import NO_HOOKS
    from scaar.evaluator.service.setup import open_evaluator as open_service

    async with (
        open_answerers(
            settings.orchestrator_target, settings.scorer_targets or {}, breakers=breakers
        ) as (answerers, cached),
        open_service(
            settings,
            answerers.answerer,
            database_url=evaluator_database(settings),
            broker_url=evaluator_broker(settings) if settings.executor == "celery" else "",
            lab_index=lab_index_name,
            hooks=hooks or NO_HOOKS,
            controls=answerers.controls,
            cached=cached,
            exclusive=exclusive,
            # Callers of a service must not fill its disk with indexes.
            ensure_lab_index=ensure_lab_index if exclusive and _answers_alone(settings) else None,
            tuned_policies=partial(tuned_policies_of, settings.orchestrator_target),
        ) as hosted,
    ):
        yield hosted


def evaluator_broker(settings: "EvaluatorSettings") -> str:
    """Return the URL of the workers' broker, with its password.

    Raises:
        InvalidRequest: the URL is missing or set twice, or its file cannot be read.
    """
    if found := _secret_url("broker", settings.broker, settings.broker_file):
        return found
    text = "must be set for workers, or executor=poll: redis://HOST:PORT/NUMBER"
    raise InvalidRequest.of("broker", text)


def evaluator_database(settings: "EvaluatorSettings") -> str:
    """Return the URL of the database of evaluations, with its password.

    Raises:
        InvalidRequest: the URL is set twice, or its file cannot be read.
    """
    found = _secret_url("database", settings.database, settings.database_file)
    return found or f"sqlite:///{scaar_home() / 'evaluations.sqlite'}"


def _secret_url(name: str, given: "SecretStr | None", file: Path | None) -> str:
    if given is not None and file is not None:
        raise InvalidRequest.of(f"{name}_file", f"cannot be combined with {name}: set one of them")
    if file is not None:
        try:
            return file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest.of(f"{name}_file", f"{file} cannot be read: {error}") from error
    return "" if given is None else given.get_secret_value()


def _answers_alone(settings: "EvaluatorSettings") -> bool:
    """Return whether the evaluator answers with the indexes of this machine."""
    embedded = settings.orchestrator_target == EMBEDDED
    return (
        embedded
        and OrchestratorSettings.read().retriever_target == EMBEDDED
        and indexes_are_local()
    )


def indexes_are_local() -> bool:
    """Return whether the indexes of the embedded retriever are local files."""
    from scaar.retriever.settings import RetrieverSettings

    return RetrieverSettings.read().engine == "bm25s"


def lab_index_name(seed: int) -> str:
    """Return the name of the index of a lab world."""
    return "lab" if seed == LAB_SEED else f"lab-{seed}"


async def ensure_lab_index(seed: int = LAB_SEED) -> IndexDescription:
    """Return the index of a lab world. Build it if it is missing or of an earlier world."""
    # Nothing else of the settings is loaded: no encoder, and no index to preload.
    settings = _retriever_settings(EMBEDDED).model_copy(update={"encoder": None, "preload": ()})
    async with open_embedded_indexes(settings) as indexes:
        return await ensure_lab_index_in(indexes, seed)


async def ensure_lab_index_in(indexes: IndexKeeper, seed: int = LAB_SEED) -> IndexDescription:
    """Return the index of a lab world among these indexes, as :func:`ensure_lab_index`."""
    name = lab_index_name(seed)
    try:
        found = await indexes.describe_index(name)
    except NotFound:
        # Another process may have built the same index first.
        with suppress(AlreadyExists):
            return (await indexes.index_passages(name, _lab_passages(seed))).index
        return await indexes.describe_index(name)
    if seed == LAB_SEED and _is_current(found):
        return found
    # An index of the same content is kept.
    replaced = await indexes.index_passages(name, _lab_passages(seed), mode=IndexMode.REPLACE)
    return replaced.index


def _is_current(found: IndexDescription) -> bool:
    """Return whether the index is of the current default world, as far as its version shows."""
    has_other_settings = (found.k1, found.b) != _LAB_INDEX_SETTINGS
    return has_other_settings or found.version == LAB_INDEX_VERSION


async def _lab_passages(seed: int) -> AsyncIterator[Passage]:
    with lab_required("the lab's index"):
        from scaar.lab.passages import passages_of
        from scaar.lab.world import build_world
    for passage in passages_of(build_world(seed)):
        yield Passage(passage.id, passage.title, passage.text)
