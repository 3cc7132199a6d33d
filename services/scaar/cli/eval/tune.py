"""``scaar tune``: a policy tuned for a budget, as an artefact."""

import asyncio
import enum
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.addresses import OrchestratorAddress
from scaar.cli.ask.overrides import SETTING_HELP, parse_overrides
from scaar.cli.completion import complete_dataset, complete_policy, complete_setting
from scaar.cli.eval import options, tune_options
from scaar.cli.eval.fields import draw, named_by_options
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.eval.run import resumable
from scaar.cli.eval.tune_report import print_threshold, print_tuning
from scaar.cli.eval.tune_report_file import drafts_to_json, report_to_json
from scaar.cli.tables import Format, TableFormat
from scaar.compose import EMBEDDED
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies.artefact_json import artefact_to_json, name_problem
from scaar.core.policies.checks import check_policy
from scaar.core.types import PolicyRequest
from scaar.evaluation.addresses import Addresses
from scaar.evaluation.local import EvaluationOptions, spec_of
from scaar.evaluation.questions import QuestionSample
from scaar.evaluation.thresholds import tune_threshold
from scaar.evaluation.tuning import TuningOptions, check_tuning, tune
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.datasets.plain import UNLABELLED
from scaar.evaluator.planning.settings import setting_of
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.studies.tuning.target import Target


class Part(enum.StrEnum):
    """What alone is tuned."""

    THRESHOLD = "threshold"


def tune_policy(
    context: typer.Context,
    dataset: Annotated[
        str,
        typer.Option(
            metavar="NAME[:PATH]",
            help="Data set: lab, or NAME:PATH with its file (see `scaar dataset list`). "
            "questions:PATH is a file of questions without answers.",
            autocompletion=complete_dataset,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="File of the artefact. Its name without .json is the name of the policy.",
        ),
    ],
    budget: Annotated[
        float | None,
        typer.Option(metavar="N", help="Retrieval budget: mean number of searches per question."),
    ] = None,
    catch: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Instead of --budget: with 95% confidence, at least this share of the answers, "
            "such as 0.95, has no wrong draft that is accepted unchecked.",
        ),
    ] = None,
    only: Annotated[
        Part | None,
        typer.Option(
            help="Tune only the threshold of --policy; the questions need no answers. Default: "
            "also trigger, query, mask_below, exclude_seen and top_k."
        ),
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            metavar="S",
            help="Seed of the sample of questions; for lab, of the world. Repeatable: the "
            "questions of all seeds are used. Default: 0; for lab, 2000.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Number of questions for each seed. Default: all; for lab, 500."
        ),
    ] = None,
    triggers: tune_options.Triggers = None,
    queries: tune_options.Queries = None,
    alphas: tune_options.Alphas = None,
    search_modes: tune_options.SearchModes = None,
    reranks: tune_options.Reranks = None,
    labels: tune_options.Labels = None,
    latency_weight: tune_options.LatencyWeight = 0.0,
    unit_time: tune_options.UnitTimes = None,
    learning_curve: tune_options.LearningCurve = None,
    drafts: tune_options.Drafts = None,
    report: tune_options.ReportFile = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --only threshold: the policy. Default: scaar.",
            autocompletion=complete_policy,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help=f"With --only threshold: settings of the policy. {SETTING_HELP}",
            autocompletion=complete_setting,
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the answers made so far, with which the same command resumes. "
            "Default: FILE without .json, with .tuning.",
        ),
    ] = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    freedom: options.Freedom = None,
    aliases: options.Aliases = None,
    index: options.Index = None,
    prompt_profile: options.ProfileName = "",
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = options.TIMEOUT_S,
    target: OrchestratorAddress = EMBEDDED,
    retry_failed: options.RetryFailed = False,
    output: Format = None,
) -> None:
    """Tune a policy for a retrieval budget.

    The candidates are every trigger with every query, mask, exclusion, top_k, share of words,
    search mode and order of the passages found. Each is tuned to
    the budget, and the simplest within one standard error of the best is chosen by
    cross-validation and written as a policy artefact. The command resumes when it is run again.
    """
    context.with_resource(KINDS.with_parts({UNLABELLED.name: UNLABELLED}))
    samples = tuple(
        draw(
            dataset,
            limit=limit,
            seed=each,
            style=style,
            tail_share=tail_share,
            freedom=freedom,
            aliases=aliases,
        )
        for each in (seed or (None,))
    )
    name = _name_of(out)
    work = work or out.with_suffix(".tuning")
    _check_target(budget, catch)
    if only is Part.THRESHOLD or not _labelled(samples):
        unused = {
            "--trigger": triggers,
            "--query": queries,
            "--alpha": alphas,
            "--search-mode": search_modes,
            "--rerank": reranks,
            "--label": labels,
            "--latency-weight": latency_weight or None,
            "--unit-time": unit_time,
            "--learning-curve": learning_curve,
            "--drafts": drafts,
            "--report": report,
        }
        _refuse({**unused, "--catch": catch}, "cannot be combined with --only threshold")
        assert budget is not None
        request = PolicyRequest(policy or "scaar", parse_overrides(settings or []))
        evaluation = EvaluationOptions(
            drawn=_only(samples),
            settings=(setting_of(request),),
            out=work,
            index=index,
            concurrency=concurrency,
            addresses=Addresses(target),
            timeout_s=timeout,
            prompt_profile=prompt_profile,
            retry_failed=retry_failed,
        )
        _tune_threshold(evaluation, request, name, budget, out, output)
        return
    _refuse({"--policy": policy, "--set": settings}, "is for --only threshold")
    if target != EMBEDDED:
        text = "is for --only threshold: candidates are tuned in this process, with the generator, "
        raise InvalidRequest.of("--address", f"{text}scorer and retriever of its settings")
    tuning = TuningOptions(
        samples,
        name=name,
        work=work,
        target=Target(budget, None if catch is None else 1 - catch),
        index=index,
        prompt_profile=prompt_profile,
        concurrency=concurrency,
        timeout_s=timeout,
        searches=tune_options.parse_searches(search_modes, reranks),
        alphas=tune_options.parse_alphas(alphas),
        labels=tune_options.parse_labels(labels),
        latency_weight=latency_weight,
        unit_times_ms=tune_options.parse_unit_times(unit_time or ()),
        curve_sizes=tune_options.parse_sizes(learning_curve),
    )
    if triggers is not None:
        tuning = replace(tuning, triggers=options.names_of(triggers))
    if queries is not None:
        tuning = replace(tuning, queries=options.names_of(queries))
    with named_by_options():
        check_tuning(tuning)
    progress = EvaluationProgress(what="steps")
    with resumable(progress, work), named_by_options():
        found = asyncio.run(tune(tuning, progress))
    write_whole(out, artefact_to_json(found.artefact))
    if report is not None:
        write_whole(report, report_to_json(found))
    if drafts is not None:
        write_whole(drafts, drafts_to_json(found.chosen.labels))
    print_tuning(found, out, output)


def _tune_threshold(
    evaluation: EvaluationOptions,
    request: PolicyRequest,
    name: str,
    budget: float,
    out: Path,
    output: TableFormat | None,
) -> None:
    # Only commands that run evaluations load the libraries of the database.
    from scaar.evaluator.studies.grid.threshold import check_runs_folder, check_threshold

    if wrong := check_policy(request):
        raise InvalidRequest(wrong)
    check_threshold(request, budget)
    check_runs_folder(evaluation.out)
    with named_by_options():
        spec_of(evaluation)
    progress = EvaluationProgress()
    with resumable(progress, evaluation.out):
        found = asyncio.run(tune_threshold(evaluation, progress, name=name, budget=budget))
    write_whole(out, artefact_to_json(found.artefact))
    print_threshold(found, out, output)


def _name_of(out: Path) -> str:
    """Return the name of the policy in a file, and check that it can be written."""
    name = out.name.removesuffix(".json")
    if out.suffix != ".json" or out.is_dir():
        raise InvalidRequest.of("--out", f"must be a file whose name ends in .json, not {out}")
    if problem := name_problem(name):
        raise InvalidRequest.of("--out", f"names the policy, and its name {problem}")
    return name


def _check_target(budget: float | None, catch: float | None) -> None:
    if (budget is None) == (catch is None):
        raise InvalidRequest.of("--budget", "or --catch must be given, and only one of them")
    if budget is not None and not budget > 0:
        raise InvalidRequest.of("--budget", f"must be above 0, not {budget:g}")
    if catch is not None and not 0 < catch < 1:
        raise InvalidRequest.of("--catch", f"must be between 0 and 1, not {catch:g}")


def _labelled(samples: tuple[QuestionSample, ...]) -> bool:
    return all(question.answers for each in samples for question in each.questions)


def _only(samples: tuple[QuestionSample, ...]) -> QuestionSample:
    first, *others = samples
    if others:
        raise InvalidRequest.of("--seed", "can be given once with --only threshold")
    return first


def _refuse(given: Mapping[str, object], why: str) -> None:
    wrong = [Violation(name, why) for name, value in given.items() if value is not None]
    if wrong:
        raise InvalidRequest(wrong)
