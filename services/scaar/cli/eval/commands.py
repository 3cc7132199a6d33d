"""``scaar eval``: evaluate policies on questions with known answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.ask.policy_file import AllowMismatch
from scaar.cli.completion import complete_ablation
from scaar.cli.eval import options
from scaar.cli.eval.addresses import parse_addresses
from scaar.cli.eval.compare import compare
from scaar.cli.eval.earlier import import_results
from scaar.cli.eval.export import export
from scaar.cli.eval.fields import draw, named_by_options
from scaar.cli.eval.longtail import app as longtail_app
from scaar.cli.eval.queries import queries
from scaar.cli.eval.report import join, report
from scaar.cli.eval.run import evaluate
from scaar.cli.eval.service import HostedRun, cancel, evaluate_at, list_evaluations, resume, watch
from scaar.cli.eval.show import show
from scaar.cli.eval.table import score_and_report
from scaar.cli.eval.worker import worker
from scaar.cli.tables import Format, TableFormat
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import DEFAULT_TENANT
from scaar.core.types import PolicyArtefact
from scaar.evaluation.local import EvaluationOptions
from scaar.evaluator.oracles import oracle_parts
from scaar.evaluator.planning.ablations import ABLATIONS, plan_ablation
from scaar.evaluator.planning.axes import scorers_named, with_indexes, with_scorers
from scaar.evaluator.planning.gates import gates_named, with_gates
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.records import Setting
from scaar.evaluator.store.folder import read_results
from scaar.evaluator.studies.grid.candidates import check_grid
from scaar.orchestrator.settings import read_artefact

app = typer.Typer(no_args_is_help=True)


@app.callback()
def with_oracles(context: typer.Context) -> None:
    """Evaluate policies, on this machine or on a running evaluator."""
    context.with_resource(oracle_parts())


Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of an evaluation.", show_default=False)
]


@dataclass(frozen=True, slots=True)
class _Run:
    """The settings and the options of ``run`` and ``ablate``."""

    settings: tuple[Setting, ...]
    indexes: Sequence[str]
    dataset: str
    grid: int | None
    limit: int | None
    seed: int | None
    style: float | None
    tail_share: float | None
    aliases: Path | None
    concurrency: int | None
    timeout_s: float
    addresses: Sequence[str]
    retry_failed: bool
    skip_unserved: bool
    cache_generations: bool
    request_id: str
    tenant: str | None
    detach: bool
    output: TableFormat | None
    artefacts: tuple[PolicyArtefact, ...] = ()

    def run(self, out: Path | None, target: str | None) -> None:
        """Evaluate into a folder, or on an evaluator.

        Raises:
            InvalidRequest: both are given or neither, or an option of the other one; nothing was
                written or sent.
            Exit: the evaluation failed, or a question of a folder; the status is 1.
        """
        if (out is None) == (target is None):
            raise InvalidRequest.of("--out", "or --target must be given, but not both")
        if out is not None:
            _refuse(
                {"--request-id": self.request_id, "--tenant": self.tenant, "--detach": self.detach},
                "--out: it needs --target",
            )
            self._run_here(out)
        elif target is not None:
            _refuse(
                {
                    "--concurrency": self.concurrency,
                    "--address": self.addresses,
                    "--policy-file": [*self.artefacts],
                    "--retry-failed": self.retry_failed,
                },
                "--target: it needs --out",
            )
            self._run_at(target)

    def _run_here(self, out: Path) -> None:
        evaluation = EvaluationOptions(
            drawn=draw(
                self.dataset,
                limit=self.limit,
                seed=self.seed,
                style=self.style,
                tail_share=self.tail_share,
                aliases=self.aliases,
            ),
            settings=self.settings,
            out=out,
            index=self.indexes[0] if self.indexes else None,
            concurrency=self.concurrency or options.CONCURRENCY,
            addresses=parse_addresses(self.addresses),
            timeout_s=self.timeout_s,
            retry_failed=self.retry_failed,
            grid=self.grid,
            skip_unserved=self.skip_unserved,
            cache_generations=self.cache_generations,
            artefacts=self.artefacts,
        )
        with named_by_options():
            results = evaluate(evaluation)
        if score_and_report(results, out, self.output):
            raise typer.Exit(1)

    def _run_at(self, target: str) -> None:
        hosted = HostedRun(
            settings=self.settings,
            indexes=tuple(self.indexes),
            dataset=self.dataset,
            aliases=self.aliases,
            limit=self.limit,
            seed=self.seed,
            style=self.style,
            tail_share=self.tail_share,
            theta_candidates=self.grid,
            skip_unserved=self.skip_unserved,
            cache_generations=self.cache_generations,
            timeout_s=self.timeout_s,
            request_id=self.request_id,
            tenant=self.tenant or DEFAULT_TENANT,
        )
        with named_by_options():
            evaluate_at(target, hosted, detach=self.detach, output=self.output)


@app.command("run")
def run(
    dataset: options.Dataset,
    out: options.OptionalOut = None,
    target: options.Target = None,
    policies: options.Policies = "",
    policy_file: options.PolicyFiles = None,
    allow_mismatch: AllowMismatch = False,
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
    concurrency: options.OptionalConcurrency = None,
    timeout: options.Timeout = options.TIMEOUT_S,
    address: options.Addresses = None,
    retry_failed: options.RetryFailed = False,
    skip_unserved: options.SkipUnserved = False,
    cache_generations: options.CacheGenerations = False,
    request_id: options.RequestId = "",
    tenant: options.Tenant = None,
    detach: options.Detach = False,
    output: Format = None,
) -> None:
    """Evaluate policies on a data set.

    Every question is answered with every setting of every policy: into the folder --out, where the
    command resumes when it is run again, or by the evaluator --target, which continues without the
    command.
    """
    values = options.values_of(theta, alpha, top_k, settings or [])
    with named_by_options():
        if grid is not None:
            check_grid(grid, values)
    artefacts = tuple(read_artefact(path) for path in policy_file or ())
    planned = options.tuned_settings(artefacts, allow_mismatch=allow_mismatch)
    if policies or not artefacts:
        planned = (*plan_settings(options.policy_names(policies), values), *planned)
    with named_by_options():
        if gate:
            planned = with_gates(planned, gates_named(options.names_of(gate)))
        if scorer:
            planned = with_scorers(planned, scorers_named(options.names_of(scorer)))
        indexes = options.index_names(index)
        planned = with_indexes(planned, indexes)
    _Run(
        settings=planned,
        indexes=indexes,
        dataset=dataset,
        grid=grid,
        limit=limit,
        seed=seed,
        style=style,
        tail_share=tail_share,
        aliases=aliases,
        concurrency=concurrency,
        timeout_s=timeout,
        addresses=address or [],
        retry_failed=retry_failed,
        skip_unserved=skip_unserved,
        cache_generations=cache_generations,
        request_id=request_id,
        tenant=tenant,
        detach=detach,
        output=output,
        artefacts=artefacts,
    ).run(out, target)


@app.command("ablate")
def ablate(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"Ablation: {', '.join(ABLATIONS)}.",
            show_default=False,
            autocompletion=complete_ablation,
        ),
    ],
    dataset: options.Dataset,
    out: options.OptionalOut = None,
    target: options.Target = None,
    settings: options.Set = None,
    grid: options.Grid = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    style: options.Style = None,
    tail_share: options.TailShare = None,
    aliases: options.Aliases = None,
    index: options.Indexes = None,
    concurrency: options.OptionalConcurrency = None,
    timeout: options.Timeout = options.TIMEOUT_S,
    address: options.Addresses = None,
    retry_failed: options.RetryFailed = False,
    skip_unserved: options.SkipUnserved = False,
    cache_generations: options.CacheGenerations = False,
    request_id: options.RequestId = "",
    tenant: options.Tenant = None,
    detach: options.Detach = False,
    output: Format = None,
) -> None:
    """Run an ablation of one part of the policies.

    An ablation is a fixed set of settings that differ in that part. Everything else is as for
    `scaar eval run`.
    """
    given = options.values_of(None, None, None, settings or [])
    with named_by_options():
        indexes = options.index_names(index)
        planned = plan_ablation(name, given, indexes)
        if grid is not None:
            check_grid(grid, {**given, **ABLATIONS[name].values})
    _Run(
        settings=planned,
        indexes=indexes,
        dataset=dataset,
        grid=grid,
        limit=limit,
        seed=seed,
        style=style,
        tail_share=tail_share,
        aliases=aliases,
        concurrency=concurrency,
        timeout_s=timeout,
        addresses=address or [],
        retry_failed=retry_failed,
        skip_unserved=skip_unserved,
        cache_generations=cache_generations,
        request_id=request_id,
        tenant=tenant,
        detach=detach,
        output=output,
    ).run(out, target)


@app.command("rescore")
def rescore(folder: Folder, output: Format = None) -> None:
    """Compute scores and report again from predictions."""
    score_and_report(read_results(folder), folder, output)


def _refuse(given: Mapping[str, object], why: str) -> None:
    for name, value in given.items():
        # 0 is a value that was given, though it equals False.
        if value is not None and value is not False and value not in ("", []):
            raise InvalidRequest.of(name, f"cannot be combined with {why}")


app.command()(show)
app.command()(compare)
app.command()(report)
app.command()(export)
app.command()(join)
app.command("import")(import_results)
app.command()(queries)
app.add_typer(longtail_app, name="longtail")
app.command("list")(list_evaluations)
app.command()(watch)
app.command()(resume)
app.command()(cancel)
app.command()(worker)
