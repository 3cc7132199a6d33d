"""``scaar tune`` from Python: a policy tuned for a budget, in this process."""

import math
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose import (
    EMBEDDED,
    build_catalog,
    build_loop,
    ensure_lab_index,
    indexes_are_local,
    open_files,
    open_ports,
)
from scaar.core.errors import InvalidRequest
from scaar.core.policies.requirements import uses_contributions
from scaar.core.ports import Answerer, Catalog
from scaar.core.types import (
    LabelKind,
    LatencyFigures,
    PolicyArtefact,
    PolicyRequest,
    TuningConditions,
    UnitTime,
)
from scaar.evaluation.addresses import Addresses
from scaar.evaluation.conditions import common_conditions, conditions_of
from scaar.evaluation.local import EvaluationOptions, spec_of
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.datasets.lab import LAB, advice_on_freedom
from scaar.evaluator.records import Setting
from scaar.evaluator.specification import template_of
from scaar.evaluator.statistics.cost_units import UNITS
from scaar.evaluator.studies.tuning.candidates import (
    QUERY_NAMES,
    SEARCHES,
    TRIGGER_NAMES,
    Candidate,
    Label,
    Searches,
    check_parts,
    plan_candidates,
)
from scaar.evaluator.studies.tuning.target import Target
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.evaluator.execution.progress import RunProgress
    from scaar.evaluator.statistics.estimate import Estimate
    from scaar.evaluator.studies.tuning.artefact import Answered
    from scaar.evaluator.studies.tuning.control import ChosenPolicy
    from scaar.evaluator.studies.tuning.drafting import PlannedAnswer, Sample
    from scaar.evaluator.studies.tuning.policy import TunedPolicy
    from scaar.evaluator.studies.tuning.records import Trajectory, TunedQuestion
    from scaar.evaluator.studies.tuning.store import TrajectoryStore
    from scaar.evaluator.studies.tuning.timing import Latency

MAX_GENERATIONS = 20_000
"""Number of generations that are cached: candidates share most of them."""


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """The options of a tuning; ``work`` is the folder in which it resumes.

    ``searches`` are the modes of a search and the orders of its passages, and ``alphas`` shares of
    words in percent, for the queries of which they are a setting.
    ``labels`` are what learned triggers predict; the default is all that the data sets have.
    ``latency_weight`` is the quality that a second of an answer is worth, and ``unit_times_ms`` the
    times of units of usage (:data:`~scaar.evaluator.statistics.cost_units.UNITS`) that are not
    measured. ``curve_sizes`` are the numbers of questions of a learning curve.
    """

    samples: tuple[QuestionSample, ...]
    name: str
    work: Path
    target: Target
    triggers: tuple[str, ...] = TRIGGER_NAMES
    queries: tuple[str, ...] = QUERY_NAMES
    searches: Searches = SEARCHES
    alphas: tuple[float, ...] = ()
    index: str | None = None
    prompt_profile: str = ""
    """Prompt profile of every answer; empty for that of evaluations with the model."""
    concurrency: int = 1
    timeout_s: float = 60.0
    labels: tuple[Label, ...] = ()
    latency_weight: float = 0.0
    unit_times_ms: Mapping[str, float] = field(default_factory=dict)
    curve_sizes: tuple[int, ...] = ()

    @property
    def in_lab(self) -> bool:
        """Whether every question is of the lab, which knows the truth of a draft."""
        return all(each.kind is LAB for each in self.samples)


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
    from scaar.evaluator.studies.tuning.learning_curve import check_sizes
    from scaar.evaluator.studies.tuning.store import check_tuning_folder

    check_parts(options.triggers, options.queries, options.alphas)
    if Label.WRONG in options.labels and not options.in_lab:
        text = "cannot be wrong: only the lab knows whether a draft is wrong; use benefit"
        raise InvalidRequest.of("labels", text)
    if not 0 <= options.latency_weight < math.inf:
        text = f"must be at least 0 and finite, not {options.latency_weight:g}"
        raise InvalidRequest.of("latency_weight", text)
    if options.unit_times_ms and not options.latency_weight:
        raise InvalidRequest.of("unit_times_ms", "needs a latency weight")
    questions = tuned_questions([(each.origin, each.questions) for each in options.samples])
    check_target(options.target, questions)
    if options.curve_sizes and options.target.budget is None:
        raise InvalidRequest.of("curve_sizes", "needs a budget")
    check_sizes(options.curve_sizes, questions)
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
    labels = options.labels or (
        (Label.WRONG, Label.BENEFIT) if options.in_lab else (Label.BENEFIT,)
    )
    settings = OrchestratorSettings.read()
    files = open_files(settings)
    async with AsyncExitStack() as stack:
        ports = await stack.enter_async_context(open_ports(settings))
        model = await ports.generator.describe_model()
        free = any(each.origin.freedom is not None for each in options.samples)
        if free and (advice := advice_on_freedom([model.model])):
            progress.say(advice)
        candidates = plan_candidates(
            options.triggers,
            options.queries,
            labels,
            model.capabilities,
            options.searches,
            options.alphas,
        )
        triggers = tuple(dict.fromkeys(each.trigger for each in candidates))
        stack.enter_context(forced_retrievals(triggers))
        if settings.retriever_target == EMBEDDED and indexes_are_local():
            for each in options.samples:
                if each.kind is LAB:
                    await ensure_lab_index(each.origin.seed)
        uncached = build_loop(ports, settings, files=files)
        cached = CachedGenerator(ports.generator, max_cached=MAX_GENERATIONS)
        ports = replace(ports, generator=cached)
        answerer = build_loop(ports, settings, files=files)
        samples = [await _sample(each, options, answerer) for each in options.samples]
        catalog = build_catalog(ports, answerer)
        conditions = await _conditions(catalog, samples, candidates)
        run = TuningRun(
            tuple(each.origin for each in samples), conditions, triggers, options.timeout_s
        )
        store = await stack.enter_async_context(open_tuning(options.work, run, questions))

        async def make(work: "Sequence[PlannedAnswer]") -> "Sequence[Trajectory]":
            return await draft(work, samples, store, concurrency=options.concurrency)

        trajectories = Trajectories(make, store.known)
        timed = [replace(each, answerer=uncached) for each in samples]
        latency = await _latency(options, candidates, timed, questions, store, progress)
        chosen = await choose_policy(
            *(trajectories, questions, candidates),
            *(Label.WRONG if options.in_lab else Label.BENEFIT, options.target, progress),
            latency=latency,
            curve_sizes=options.curve_sizes,
        )
        policy = chosen.policy
        figures = await _answer_all(policy, samples, questions, progress)
        differing = await trajectories.differing(
            policy.candidate.retrieving, policy.fires, questions, figures.searches_of
        )
    artefact = artefact_of(
        options.name,
        policy,
        common_conditions(conditions),
        figures,
        label_kind=_label_kind(policy, in_lab=options.in_lab),
        questions=len(questions),
        candidates=len(chosen.tuning.results),
        measure=main_measure_of(samples[0].kind),
        optimism=chosen.tuning.optimism,
        risk=chosen.risk,
        latency=_latency_figures(latency, chosen.tuning.chosen.seconds),
    )
    return Tuned(artefact, chosen, figures, differing)


def _label_kind(policy: "TunedPolicy", *, in_lab: bool) -> LabelKind:
    """Return the labels that the policy was fitted to; in the lab those by which risks count."""
    compared = policy.candidate.label is Label.BENEFIT
    return LabelKind.COUNTERFACTUAL if compared or not in_lab else LabelKind.EXACT


async def _latency(
    options: TuningOptions,
    candidates: Sequence[Candidate],
    samples: "Sequence[Sample]",
    questions: "Sequence[TunedQuestion]",
    store: "TrajectoryStore",
    progress: "RunProgress",
) -> "Latency | None":
    """Return the time of answers in the objective; units without a given time are measured."""
    from scaar.evaluator.studies.tuning.timing import Latency, measure_times

    if not options.latency_weight:
        return None
    times = options.unit_times_ms
    if times.keys() != UNITS.keys():
        scores = _scored(candidates)
        measured = await measure_times(samples, questions, store, progress, scores=scores)
        times = {**measured, **times}
    return Latency(options.latency_weight, times)


def _latency_figures(
    latency: "Latency | None", seconds: "Estimate | None"
) -> LatencyFigures | None:
    if latency is None or seconds is None or seconds.value is None:
        return None
    return LatencyFigures(
        weight=latency.weight,
        seconds_per_answer=round(seconds.value, 6),
        unit_times_ms=tuple(UnitTime(unit, round(latency.times_ms[unit], 6)) for unit in UNITS),
    )


async def _conditions(
    catalog: Catalog, samples: "Sequence[Sample]", candidates: Sequence[Candidate]
) -> tuple[TuningConditions, ...]:
    """Return what every sample is tuned on."""
    scored = _scored(candidates)
    return tuple(
        [
            await conditions_of(
                catalog,
                each.template.index,
                scored=scored,
                prompt_profile=each.template.prompt_profile,
            )
            for each in samples
        ]
    )


def _scored(candidates: Sequence[Candidate]) -> bool:
    """Return whether the trigger or the query of a candidate uses contributions."""
    return any(uses_contributions(each.trigger, each.retrieving.query) for each in candidates)


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
        prompt_profile=options.prompt_profile,
    )


async def _sample(drawn: QuestionSample, options: TuningOptions, answerer: Answerer) -> "Sample":
    """Return the questions of a sample with the request of each."""
    from scaar.evaluator.execution.provenance import with_profile
    from scaar.evaluator.studies.tuning.drafting import Sample

    spec = spec_of(_evaluation(drawn, options))
    template = replace(template_of(spec), question=drawn.questions[0].question)
    template = await with_profile(answerer, template, drawn.kind)
    return Sample(answerer, drawn.kind, drawn.origin, template)


async def _answer_all(
    policy: "TunedPolicy",
    samples: "Sequence[Sample]",
    questions: "Sequence[TunedQuestion]",
    progress: "RunProgress",
) -> "Answered":
    """Answer every question with the policy as it is served."""
    from scaar.evaluator.studies.tuning.artefact import answered, request_of
    from scaar.evaluator.studies.tuning.drafting import answer_of, quality_of

    setting = Setting("tuned", request_of(policy))
    predictions, qualities = [], []
    progress.name = "answering with the tuned policy"
    with progress.watch(len(questions), 0) as count:
        for each in questions:
            sample = samples[each.sample]
            made = await answer_of(setting, each, sample)
            predictions.append(made)
            qualities.append(quality_of(made, each, sample.kind))
            count(made)
    return answered(predictions, qualities, questions)
