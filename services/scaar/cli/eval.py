"""``scaar eval``: policies held against questions whose answers are known."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.cli import eval_options as options
from scaar.cli.eval_compare import compare
from scaar.cli.eval_dataset import draw
from scaar.cli.eval_join import join
from scaar.cli.eval_longtail import app as longtail_app
from scaar.cli.eval_queries import queries
from scaar.cli.eval_report import report
from scaar.cli.eval_run import Wanted, evaluate
from scaar.cli.eval_show import show
from scaar.cli.eval_table import score_and_tell
from scaar.cli.eval_targets import targets_of
from scaar.evaluator.grid.candidates import check_grid
from scaar.evaluator.planning.ablations import ABLATIONS, plan_ablation
from scaar.evaluator.planning.gates import gates_named, with_gates
from scaar.evaluator.planning.indexes import with_indexes
from scaar.evaluator.planning.scorers import scorers_named, with_scorers
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.store.folder import read_results

app = typer.Typer(
    help="Ask questions with known answers under policies, and measure.", no_args_is_help=True
)

app.command()(show)
app.command()(compare)
app.command()(report)
app.command()(join)
app.command()(queries)
app.add_typer(longtail_app, name="longtail")

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of an evaluation.")]


@app.command("run")
def run(
    dataset: options.Dataset,
    out: options.Out,
    policies: options.Policies = "",
    theta: options.Theta = None,
    alpha: options.Alpha = None,
    top_k: options.TopK = None,
    settings: options.Set = None,
    scorer: options.Scorers = "",
    gate: options.Gates = "",
    grid: options.Grid = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    aliases: options.Aliases = None,
    index: options.Indexes = None,
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = options.TIMEOUT_S,
    target: options.Targets = None,
    retry_failed: options.RetryFailed = False,
    skip_unserved: options.SkipUnserved = False,
    keep_generations: options.KeepGenerations = False,
) -> None:
    """Ask a data set's questions under each setting of each policy; started again, it goes on."""
    values = options.values_of(theta, alpha, top_k, settings or [])
    if grid is not None:
        check_grid(grid, values)
    planned = plan_settings(options.policy_names(policies), values)
    if scorer:
        planned = with_scorers(planned, scorers_named(options.names_of(scorer)))
    if gate:
        planned = with_gates(planned, gates_named(options.names_of(gate)))
    indexes = options.index_names(index)
    planned = with_indexes(planned, indexes)
    wanted = Wanted(
        drawn=draw(
            dataset,
            limit=limit,
            seed=seed,
            style=style,
            tail_share=tail_share,
            aliases=aliases,
        ),
        settings=planned,
        out=out,
        index=indexes[0] if indexes else None,
        concurrency=concurrency,
        targets=targets_of(target or []),
        timeout_s=timeout,
        retry_failed=retry_failed,
        grid=grid,
        skip_unserved=skip_unserved,
        keep_generations=keep_generations,
    )
    _run(wanted)


@app.command("ablate")
def ablate(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"Of {', '.join(ABLATIONS)}.")],
    dataset: options.Dataset,
    out: options.Out,
    settings: options.Set = None,
    grid: options.Grid = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    aliases: options.Aliases = None,
    index: options.Indexes = None,
    concurrency: options.Concurrency = 4,
    timeout: options.Timeout = options.TIMEOUT_S,
    target: options.Targets = None,
    retry_failed: options.RetryFailed = False,
    skip_unserved: options.SkipUnserved = False,
    keep_generations: options.KeepGenerations = False,
) -> None:
    """Run the settings that show what a part of the policies is worth."""
    held = options.values_of(None, None, None, settings or [])
    indexes = options.index_names(index)
    planned = plan_ablation(name, held, indexes)
    if grid is not None:
        check_grid(grid, {**held, **ABLATIONS[name].values})
    wanted = Wanted(
        drawn=draw(
            dataset,
            limit=limit,
            seed=seed,
            style=style,
            tail_share=tail_share,
            aliases=aliases,
        ),
        settings=planned,
        out=out,
        index=indexes[0] if indexes else None,
        concurrency=concurrency,
        targets=targets_of(target or []),
        timeout_s=timeout,
        retry_failed=retry_failed,
        grid=grid,
        skip_unserved=skip_unserved,
        keep_generations=keep_generations,
    )
    _run(wanted)


@app.command("rescore")
def rescore(folder: Folder) -> None:
    """Measure the predictions again; no model is asked."""
    score_and_tell(read_results(folder), folder)


def _run(wanted: Wanted) -> None:
    if score_and_tell(evaluate(wanted), wanted.out):
        raise typer.Exit(1)
