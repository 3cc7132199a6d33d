"""``scaar calibrate``: tune a policy's threshold for a retrieval budget."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from scaar.cli.addresses import OrchestratorAddress
from scaar.cli.ask.overrides import SETTING_HELP, parse_overrides
from scaar.cli.completion import complete_policy, complete_setting
from scaar.cli.eval import options
from scaar.cli.eval.fields import draw, named_by_options
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.eval.run import resumable
from scaar.cli.tables import Column, Format, Interval, Table, TableFormat, interval, print_table
from scaar.compose import EMBEDDED
from scaar.core.errors import InvalidRequest
from scaar.core.policies.checks import check_policy
from scaar.core.policies.settings import RECOMMENDED
from scaar.core.types import PolicyRequest
from scaar.evaluation.addresses import Addresses
from scaar.evaluation.answerers import open_answerers
from scaar.evaluation.local import EvaluationOptions, run_of, spec_of
from scaar.evaluator.planning.settings import label_of, setting_of
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.splits import split_questions

if TYPE_CHECKING:
    from scaar.evaluator.studies.grid.calibration import Calibration


def calibrate_policy(
    dataset: options.Dataset,
    out: options.Out,
    budget: Annotated[
        float,
        typer.Option(metavar="N", help="Retrieval budget: mean number of retrievals per question."),
    ],
    policy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Policy whose threshold theta is tuned.",
            autocompletion=complete_policy,
        ),
    ] = "scaar",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help=SETTING_HELP,
            show_default=False,
            autocompletion=complete_setting,
        ),
    ] = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    aliases: options.Aliases = None,
    index: options.Index = None,
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = options.TIMEOUT_S,
    target: OrchestratorAddress = EMBEDDED,
    retry_failed: options.RetryFailed = False,
    output: Format = None,
) -> None:
    """Tune a policy's threshold for a retrieval budget.

    The threshold theta is tuned on the development split. The command resumes when it is run
    again.
    """
    # Only commands that run evaluations load the libraries of the database.
    from scaar.evaluator.studies.grid.calibration import check_calibrated, check_calibration_folder

    request = PolicyRequest(policy, parse_overrides(settings or []))
    if wrong := check_policy(request):
        raise InvalidRequest(wrong)
    check_calibrated(request, budget)
    check_calibration_folder(out)
    evaluation = EvaluationOptions(
        drawn=draw(
            dataset,
            limit=limit,
            seed=seed,
            style=style,
            tail_share=tail_share,
            aliases=aliases,
        ),
        settings=(setting_of(request),),
        out=out,
        index=index,
        concurrency=concurrency,
        addresses=Addresses(target),
        timeout_s=timeout,
        retry_failed=retry_failed,
    )
    with named_by_options():
        spec = spec_of(evaluation)
    progress = EvaluationProgress(Console(stderr=True, highlight=False))
    with resumable(progress, out):
        found = asyncio.run(_calibrate(evaluation, spec, progress, budget=budget))
    _report(found, request, output)


async def _calibrate(
    evaluation: EvaluationOptions,
    spec: EvaluationSpec,
    progress: EvaluationProgress,
    *,
    budget: float,
) -> "Calibration":
    from scaar.evaluator.studies.grid.calibration import calibrate

    drawn = evaluation.drawn
    halves = split_questions(drawn.questions, seed=drawn.origin.seed)
    async with open_answerers(evaluation.addresses, lab_world=drawn.lab_world) as answerers:
        run = run_of(evaluation, answerers, progress)
        return await calibrate(run, evaluation.out, spec, halves.development, budget=budget)


def _report(found: "Calibration", policy: PolicyRequest, output: TableFormat | None) -> None:
    columns = (
        Column("theta", text=lambda theta: f"{theta:g}"),
        Column("retrievals", "retrievals per question [95%]", interval(3)),
        Column("chosen", text=lambda chosen: "chosen" if chosen else ""),
    )
    rows = [
        (each.theta, Interval(each.retrievals, each.low, each.high), each == found.chosen)
        for each in found.tried
    ]
    print_table(Table(columns, rows), output)
    if not found.in_reach:
        console = Console(stderr=True, highlight=False)
        text = f"no theta reaches a budget of {found.budget:g} retrievals; the nearest spends"
        console.print(f"{text} {found.chosen.retrievals:.3f}", soft_wrap=True)
    if output in (TableFormat.JSON, TableFormat.CSV):
        return
    theta = found.chosen.theta
    chosen = {"theta": theta, **policy.overrides.given()}
    values = ", ".join(
        f"{name}: {json.dumps(chosen[name])}" for name in RECOMMENDED if name in chosen
    )
    print(f"\ngenerator:\n  recommended:\n    {policy.name}: {{{values}}}")
    _, _, given = label_of(policy).partition(":")
    flags = [f"--set {each}" for each in (f"theta={theta:g}", *given.split(",")) if each]
    print(f'\nscaar ask "..." --policy {policy.name} {" ".join(flags)}')
