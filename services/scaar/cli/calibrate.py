"""``scaar calibrate``: the theta at which a policy spends so many retrievals a question."""

import asyncio
import json
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli import eval_options as options
from scaar.cli.eval_answerer import open_evaluated
from scaar.cli.eval_dataset import draw
from scaar.cli.eval_progress import EvaluationProgress
from scaar.cli.eval_run import Wanted, resumable, run_of, template_of, with_examples
from scaar.cli.eval_table import print_table
from scaar.cli.eval_targets import Targets
from scaar.cli.overrides import parse_overrides
from scaar.compose import EMBEDDED
from scaar.core.errors import InvalidRequest
from scaar.core.policies.checks import check_policy
from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.evaluator.grid.calibration import (
    Calibration,
    calibrate,
    check_calibrated,
    check_calibration_folder,
)
from scaar.evaluator.halves import split_halves
from scaar.evaluator.planning.settings import label_of, setting_of


def calibrate_policy(
    dataset: options.Dataset,
    out: options.Out,
    budget: Annotated[
        float, typer.Option(metavar="N", help="How many retrievals a question are to be spent.")
    ],
    policy: Annotated[str, typer.Option(help="The policy whose theta is looked for.")] = "scaar",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the policy."),
    ] = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    aliases: options.Aliases = None,
    index: options.Index = None,
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = options.TIMEOUT_S,
    target: options.Target = EMBEDDED,
    retry_failed: options.RetryFailed = False,
) -> None:
    """Find the theta that spends a budget, on the development half; started again, it goes on."""
    request = PolicyRequest(policy, parse_overrides(settings or []))
    if wrong := check_policy(request):
        raise InvalidRequest(wrong)
    check_calibrated(request, budget)
    check_calibration_folder(out)
    wanted = Wanted(
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
        targets=Targets(target),
        timeout_s=timeout,
        retry_failed=retry_failed,
    )
    template = template_of(wanted)
    progress = EvaluationProgress(Console(stderr=True, highlight=False))
    with resumable(progress, out):
        found = asyncio.run(_calibrate(wanted, request, template, progress, budget=budget))
    _tell(found, request)


async def _calibrate(
    wanted: Wanted,
    policy: PolicyRequest,
    template: AnswerRequest,
    progress: EvaluationProgress,
    *,
    budget: float,
) -> Calibration:
    drawn = wanted.drawn
    halves = split_halves(drawn.questions, seed=drawn.origin.seed)
    progress.name = "calibrating"
    async with open_evaluated(wanted.targets, lab_world=drawn.lab_world) as evaluated:
        template = await with_examples(evaluated.answerer, template, drawn)
        return await calibrate(
            run_of(wanted, evaluated, template, progress),
            wanted.out,
            policy,
            halves.development,
            origin=drawn.origin,
            budget=budget,
        )


def _tell(found: Calibration, policy: PolicyRequest) -> None:
    rows = [
        (
            f"{each.theta:g}",
            f"{each.retrievals:.3f} [{each.low:.3f}, {each.high:.3f}]",
            "chosen" if each == found.chosen else "",
        )
        for each in found.tried
    ]
    print_table([("theta", "retrievals a question [95%]", ""), *rows])
    if not found.in_reach:
        console = Console(stderr=True, highlight=False)
        told = f"no theta that was tried spends {found.budget:g}; the nearest spends"
        console.print(f"{told} {found.chosen.retrievals:.3f}", soft_wrap=True)
    theta = found.chosen.theta
    overrides = policy.overrides
    recommended = {
        name: value
        for name, value in (
            ("theta", theta),
            ("alpha", overrides.alpha),
            ("top_k", overrides.top_k),
        )
        if value is not None
    }
    values = ", ".join(f"{name}: {json.dumps(value)}" for name, value in recommended.items())
    print(f"\ngenerator:\n  recommended:\n    {policy.name}: {{{values}}}")
    _, _, given = label_of(policy).partition(":")
    flags = [f"--set {each}" for each in (f"theta={theta:g}", *given.split(",")) if each]
    print(f'\nscaar ask "..." --policy {policy.name} {" ".join(flags)}')
