"""``scaar tune`` from Python: a policy tuned for a budget, in this process."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose import (
    EMBEDDED,
    build_catalog,
    build_loop,
    ensure_lab_index,
    indexes_are_local,
    open_ports,
)
from scaar.core.errors import ScaarError
from scaar.core.ports import Answerer, Catalog
from scaar.core.types import (
    EvidenceKind,
    LabelKind,
    PolicyArtefact,
    PolicyRequest,
    TuningConditions,
)
from scaar.evaluation.addresses import Addresses
from scaar.evaluation.local import EvaluationOptions, spec_of
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Setting
from scaar.evaluator.specification import template_of
from scaar.evaluator.studies.tuning.candidates import (
    QUERY_NAMES,
    TRIGGER_NAMES,
    Label,
    check_parts,
    evidence_of_triggers,
    plan_candidates,
)
from scaar.evaluator.studies.tuning.target import Target
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.evaluator.execution.progress import RunProgress
    from scaar.evaluator.studies.tuning.artefact import Answered
    from scaar.evaluator.studies.tuning.control import ChosenPolicy
    from scaar.evaluator.studies.tuning.drafting import PlannedAnswer, Sample
    from scaar.evaluator.studies.tuning.policy import TunedPolicy
    from scaar.evaluator.studies.tuning.records import Trajectory, TunedQuestion

MAX_GENERATIONS = 20_000
"""Number of generations that are cached: candidates share most of them."""


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """The options of a tuning; ``work`` is the folder in which it resumes."""

    samples: tuple[QuestionSample, ...]
    name: str
    work: Path
    target: Target
    triggers: tuple[str, ...] = TRIGGER_NAMES
    queries: tuple[str, ...] = QUERY_NAMES
    index: str | None = None
    concurrency: int = 1
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Tuned:
    """A tuned policy: the artefact, the comparison of the candidates, and its own answers."""

    artefact: PolicyArtefact
    chosen: "ChosenPolicy"
    answered: "Answered"
    differing: int
    """Number of questions that the policy as it is served answers with other searches than the
    trajectories state: 0 if the model is deterministic."""


def check_tuning(options: TuningOptions) -> None:
    """Check the options that need no model; nothing is written.

    Raises:
        InvalidRequest: naming the option.
    """
    from scaar.evaluator.studies.tuning.control import check_target
    from scaar.evaluator.studies.tuning.drafting import forced_retrievals
    from scaar.evaluator.studies.tuning.folds import tuned_questions
    from scaar.evaluator.studies.tuning.store import check_tuning_folder

    check_parts(options.triggers, options.queries)
    questions = tuned_questions([(each.origin, each.questions) for each in options.samples])
    check_target(options.target, questions)
    check_tuning_folder(options.work)
    with forced_retrievals(options.triggers):
        for each in options.samples:
            spec_of(_evaluation(each, options))


async def tune(options: TuningOptions, progress: "RunProgress") -> Tuned:
    """Tune a policy, and return its artefact.

    Raises:
        InvalidRequest: an option is invalid, or the folder has another tuning.
        ScaarError: an answer failed.
    """
    from scaar.evaluator.execution.generation_cache import CachedGenerator
    from scaar.evaluator.scoring.scores import main_measure_of
    from scaar.evaluator.studies.tuning.artefact import artefact_of
    from scaar.evaluator.studies.tuning.control import choose_policy
    from scaar.evaluator.studies.tuning.drafting import draft, forced_retrievals
    from scaar.evaluator.studies.tuning.folds import tuned_questions
    from scaar.evaluator.studies.tuning.store import TuningRun, open_tuning
    from scaar.evaluator.studies.tuning.trajectories import Trajectories

    questions = tuned_questions([(each.origin, each.questions) for each in options.samples])
    in_lab = all(each.kind is LAB for each in options.samples)
    label = Label.WRONG if in_lab else Label.BENEFIT
    settings = OrchestratorSettings.read()
    async with AsyncExitStack() as stack:
        ports = await stack.enter_async_context(open_ports(settings))
        model = await ports.generator.describe_model()
        candidates = plan_candidates(options.triggers, options.queries, label, model.capabilities)
        triggers = tuple(dict.fromkeys(each.trigger for each in candidates))
        stack.enter_context(forced_retrievals(triggers))
        if settings.retriever_target == EMBEDDED and indexes_are_local():
            for each in options.samples:
                if each.kind is LAB:
                    await ensure_lab_index(each.origin.seed)
        cached = CachedGenerator(ports.generator, max_cached=MAX_GENERATIONS)
        ports = replace(ports, generator=cached)
        answerer = build_loop(ports, settings)
        samples = [await _sample(each, options, answerer) for each in options.samples]
        catalog = build_catalog(ports, answerer)
        conditions = await _conditions(catalog, samples, triggers)
        run = TuningRun(
            tuple(each.origin for each in samples), conditions, triggers, options.timeout_s
        )
        store = await stack.enter_async_context(open_tuning(options.work, run, questions))

        async def make(work: "Sequence[PlannedAnswer]") -> "Sequence[Trajectory]":
            return await draft(work, samples, store, concurrency=options.concurrency)

        trajectories = Trajectories(make, store.known)
        chosen = await choose_policy(
            trajectories, questions, candidates, label, options.target, progress
        )
        policy = chosen.policy
        figures = await _answer_all(policy, samples, questions, progress)
        differing = await trajectories.differing(
            policy.candidate.retrieving, policy.fires, questions, figures.searches_of
        )
    artefact = artefact_of(
        options.name,
        policy,
        _common(conditions),
        figures,
        label_kind=LabelKind.EXACT if in_lab else LabelKind.COUNTERFACTUAL,
        questions=len(questions),
        candidates=len(chosen.tuning.results),
        measure=main_measure_of(samples[0].kind),
        optimism=chosen.tuning.optimism,
        risk=chosen.risk,
    )
    return Tuned(artefact, chosen, figures, differing)


async def _conditions(
    catalog: Catalog, samples: "Sequence[Sample]", triggers: Sequence[str]
) -> tuple[TuningConditions, ...]:
    """Return what every sample is tuned on."""
    scored = EvidenceKind.CONTRIBUTIONS in evidence_of_triggers(triggers)
    found = [await conditions_of(catalog, each.template.index, scored=scored) for each in samples]
    return tuple(found)


def _evaluation(drawn: QuestionSample, options: TuningOptions) -> EvaluationOptions:
    from scaar.evaluator.studies.tuning.drafting import FORCED

    return EvaluationOptions(
        drawn=drawn,
        settings=(Setting(FORCED, PolicyRequest(FORCED)),),
        out=options.work,
        index=options.index,
        concurrency=options.concurrency,
        addresses=Addresses(EMBEDDED),
        timeout_s=options.timeout_s,
    )


async def _sample(drawn: QuestionSample, options: TuningOptions, answerer: Answerer) -> "Sample":
    """Return the questions of a sample with the request of each."""
    from scaar.evaluator.execution.provenance import with_examples
    from scaar.evaluator.studies.tuning.drafting import Sample

    spec = spec_of(_evaluation(drawn, options))
    template = replace(template_of(spec), question=drawn.questions[0].question)
    template = await with_examples(answerer, template, drawn.kind)
    return Sample(answerer, drawn.kind, drawn.origin, template)


async def conditions_of(catalog: Catalog, index: str, *, scored: bool) -> TuningConditions:
    """Return the model, the scorer if it is used, and the index of an orchestrator."""
    described = await catalog.describe()
    found = {each.name: each for each in await catalog.list_indexes()}.get(index)
    model, scorer = described.model, described.scorer
    dense = found.dense if found else None
    return TuningConditions(
        model=model.model,
        model_revision=model.revision,
        scorer=scorer.model if scored else "",
        scorer_revision=scorer.revision if scored else "",
        index=found.name if found else "",
        index_engine=found.engine if found else "",
        index_version=found.version if found else "",
        encoder=dense.encoder if dense else "",
        encoder_revision=dense.encoder_revision if dense else "",
        analysis=found.analysis if found else "",
    )


def _common(conditions: Sequence[TuningConditions]) -> TuningConditions:
    """Return the conditions of all samples; several indexes have no common version."""
    names = ", ".join(dict.fromkeys(each.index for each in conditions))
    versions = {each.index_version for each in conditions}
    version = versions.pop() if len(versions) == 1 else ""
    return replace(conditions[0], index=names, index_version=version)


async def _answer_all(
    policy: "TunedPolicy",
    samples: "Sequence[Sample]",
    questions: "Sequence[TunedQuestion]",
    progress: "RunProgress",
) -> "Answered":
    """Answer every question with the policy as it is served."""
    from scaar.evaluator.execution.prediction import predict
    from scaar.evaluator.oracles import in_world
    from scaar.evaluator.studies.tuning.artefact import answered, request_of
    from scaar.evaluator.studies.tuning.drafting import quality_of

    setting = Setting("tuned", request_of(policy))
    predictions, qualities = [], []
    progress.name = "answering with the tuned policy"
    with progress.watch(len(questions), 0) as count:
        for each in questions:
            sample = samples[each.sample]
            with in_world(sample.origin):
                made = await predict(sample.answerer, Work(setting, each.question), sample.template)
            if made.prediction.failure is not None:
                raise ScaarError(f"question {each.key} failed: {made.prediction.failure.message}")
            predictions.append(made.prediction)
            qualities.append(quality_of(made.prediction, each, sample.kind))
            count(made.prediction)
    return answered(predictions, qualities, questions)
