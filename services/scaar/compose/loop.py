"""Builds the loop and its catalog over open ports."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from scaar import __version__
from scaar.compose.defaults import default_index_name, language_model_folder
from scaar.compose.language_warning import with_language_warning
from scaar.compose.targets import EMBEDDED
from scaar.core.calls.capacity import AnswerCapacity, CapacityLimits
from scaar.core.controls import Control
from scaar.core.defaults.text_kinds import default_encoder
from scaar.core.distributions import library_required
from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.core.gates import QuestionGate
from scaar.core.gates.skr import SkrGate
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.loop.loop_files import LoopFiles
from scaar.core.loop.shadow import ShadowSampling
from scaar.core.observers import (
    UNOBSERVED_CAPACITY,
    UNOBSERVED_POLICIES,
    CapacityObserver,
    PolicyObserver,
)
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.sentence_filter.learned_filter import LearnedFilter
from scaar.core.types import PolicyArtefact
from scaar.corpus_counts.counts import CorpusCountsFile, open_corpus_counts
from scaar.orchestrator.settings import OrchestratorSettings, read_artefact, read_sentence_filter
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.readiness import Need
from scaar.runtime.settings import sources_named
from scaar.wire import generator, query_builder


@dataclass(frozen=True, slots=True)
class OrchestratorFiles:
    """The content of the files that an orchestrator's settings name."""

    loop: LoopFiles
    policies: TunedPolicies


def open_files(
    settings: OrchestratorSettings, artefacts: Sequence[PolicyArtefact] = ()
) -> OrchestratorFiles:
    """Return the files of an orchestrator; open them before a model, which takes longer.

    ``artefacts`` are tuned policies beside those of the settings.

    Raises:
        InvalidRequest: a file cannot be used; names its setting.
        CapabilityMissing: the libraries of the gate's encoder are not installed.
    """
    with sources_named(OrchestratorSettings, {}):
        files = LoopFiles(open_gate(settings), read_filter(settings), open_counts(settings))
        return OrchestratorFiles(files, read_policies(settings, artefacts))


def build_loop(
    ports: Ports,
    settings: OrchestratorSettings,
    *,
    files: OrchestratorFiles,
    observer: CapacityObserver = UNOBSERVED_CAPACITY,
    policy_observer: PolicyObserver = UNOBSERVED_POLICIES,
) -> AdaptiveLoop:
    """Return the loop over the ports, with the settings and their files."""
    policies = files.policies
    for each in policies.values():
        policy_observer.on_tuned_policy(each.name, each.expected)
    shadow = None
    if settings.shadow_policy:
        shadow = ShadowSampling(
            policies,
            settings.shadow_policy,
            settings.shadow_share,
            corpus_counts=files.loop.corpus_counts is not None,
            observer=policy_observer,
        )
    limits = CapacityLimits(
        max_answers=settings.max_concurrent_calls,
        max_queued=settings.max_queued_answers,
        max_queue_s=settings.max_queue_s,
    )
    capacity = AnswerCapacity(limits, observer=observer)
    return AdaptiveLoop(
        with_language_warning(ports),
        draft_ahead=settings.draft_ahead,
        allow_scorer_mismatch=settings.allow_scorer_mismatch,
        gate=files.loop.gate,
        sentence_filter=files.loop.sentence_filter,
        corpus_counts=files.loop.corpus_counts,
        policies=policies,
        default_index=default_index_name(settings),
        shadow=shadow,
        capacity=capacity,
    )


def open_gate(settings: OrchestratorSettings) -> QuestionGate | None:
    """Return the gate of an orchestrator, that of SKR with its encoder; None without a file.

    Raises:
        InvalidRequest: a file cannot be read, contains no gate or is damaged, or the gate needs an
            encoder, or another one.
        CapabilityMissing: the libraries of the encoder are not installed.
    """
    with _named("gate_file"):
        gate = settings.read_gate()
    if not isinstance(gate, SkrGate):
        return gate
    folder = settings.gate_encoder or default_encoder("")
    if folder is None:
        made = f"the folder of {gate.vectors.encoder}, or install scaar-english if it is that one"
        text = f"is required by the gate {gate.name}: {made}"
        raise InvalidRequest.of("gate_encoder", text)
    with library_required(f"the gate {gate.name}", "scorer"):
        from scaar.encoders.nearest_questions import open_nearest_questions
    with _named("gate_encoder"):
        return replace(gate, nearest=open_nearest_questions(gate.vectors, folder))


def read_policies(
    settings: OrchestratorSettings, artefacts: Sequence[PolicyArtefact] = ()
) -> TunedPolicies:
    """Return the tuned policies of an orchestrator: those of its folder, and the given artefacts.

    Without a folder, an orchestrator with an embedded lab model has the policies tuned on it.

    Raises:
        InvalidRequest: naming every file without a valid artefact, every name that two artefacts
            have, and an invalid default or shadow policy.
    """
    named = {each.name for each in artefacts}
    shipped = (each for each in _default_artefacts(settings) if each.name not in named)
    return settings.read_policies((*shipped, *artefacts))


def read_filter(settings: OrchestratorSettings) -> LearnedFilter | None:
    """Return the sentence filter of an orchestrator; None without one.

    Without a file, an orchestrator with an embedded lab model has the filter fitted for it.

    Raises:
        InvalidRequest: the file cannot be read, or contains no filter.
    """
    if path := settings.sentence_filter_file:
        with _named("sentence_filter_file"):
            return read_sentence_filter(path)
    folder = _default_folder(settings)
    path = next(folder.glob("sentence_filter.json"), None) if folder else None
    return read_sentence_filter(path) if path else None


def open_counts(settings: OrchestratorSettings) -> CorpusCountsFile | None:
    """Return the corpus counts of an orchestrator; None without a file.

    Raises:
        InvalidRequest: the file cannot be read, has no corpus counts, or is damaged.
    """
    with _named("corpus_counts_file"):
        path = settings.corpus_counts_file
        return open_corpus_counts(path) if path else None


@contextmanager
def _named(field: str) -> Iterator[None]:
    """Report a missing or damaged file as an invalid value of the setting that names it."""
    try:
        yield
    except (NotFound, DataCorrupt) as error:
        raise InvalidRequest.of(field, error.message, detail=error.detail) from error


def _default_artefacts(settings: OrchestratorSettings) -> tuple[PolicyArtefact, ...]:
    """Return the artefacts beside an embedded language model of a provider of defaults."""
    folder = _default_folder(settings) if settings.policy_folder is None else None
    if folder is None:
        return ()
    return tuple(read_artefact(each) for each in sorted((folder / "policies").glob("*.json")))


def _default_folder(settings: OrchestratorSettings) -> Path | None:
    """Return the folder of an embedded language model of a provider; None for other models."""
    if settings.generator_target != EMBEDDED:
        return None
    from scaar.generator.settings import GeneratorSettings

    model = GeneratorSettings.read()
    return language_model_folder(model.model) if model.engine == "onnx" else None


def build_catalog(ports: Ports, loop: AdaptiveLoop) -> PortsCatalog:
    """Return the catalog of the ports that the loop uses."""
    return PortsCatalog(
        ports,
        version=__version__,
        files=loop.files,
        policies=loop.policies,
        default_index=loop.default_index,
    )


@asynccontextmanager
async def open_control_loops(
    ports: Ports,
    settings: OrchestratorSettings,
    controls: Sequence[Control],
    *,
    files: OrchestratorFiles,
) -> AsyncIterator[Mapping[Control, AdaptiveLoop]]:
    """Open a loop for each control of the scorer, over the same model and index."""
    from scaar.scorer.controls.factory import open_control

    async with AsyncExitStack() as stack:
        loops = {}
        for control in controls:
            scorer = await stack.enter_async_context(open_control(control, ports.scorer))
            controlled = replace(ports, scorer=scorer)
            loops[control] = build_loop(controlled, settings, files=files)
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
