"""``scaar eval``: evaluate policies on questions with known answers."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.ask.policy_file import AllowMismatch
from scaar.cli.completion import complete_ablation
from scaar.cli.eval import options
from scaar.cli.eval.compare import compare
from scaar.cli.eval.conversations import conversations
from scaar.cli.eval.export import export, import_results
from scaar.cli.eval.fields import named_by_options
from scaar.cli.eval.filter import app as filter_app
from scaar.cli.eval.gates import gates
from scaar.cli.eval.judgements import fit_gate, judgements
from scaar.cli.eval.longtail import app as longtail_app
from scaar.cli.eval.p_correct import fit_p_correct
from scaar.cli.eval.probe import fit_probe
from scaar.cli.eval.queries import queries
from scaar.cli.eval.report import join, report
from scaar.cli.eval.retrieval import retrieval
from scaar.cli.eval.router import app as router_app
from scaar.cli.eval.run import RunOptions, takes_run_options
from scaar.cli.eval.service import cancel, list_evaluations, resume, watch
from scaar.cli.eval.show import show
from scaar.cli.eval.skr import fit_skr
from scaar.cli.eval.table import score_and_report
from scaar.cli.eval.worker import worker
from scaar.cli.tables import Format
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import NO_POLICIES
from scaar.evaluator.oracles import oracle_parts
from scaar.evaluator.planning.ablations import ABLATIONS, plan_ablation
from scaar.evaluator.planning.axes import scorers_named, with_indexes, with_scorers
from scaar.evaluator.planning.gates import gates_named, with_gates
from scaar.evaluator.planning.settings import check_no_values, plan_settings
from scaar.evaluator.store.folder import read_results
from scaar.evaluator.studies.grid.candidates import check_grid, check_gridded
from scaar.orchestrator.settings import read_artefact

app = typer.Typer(no_args_is_help=True)


@app.callback()
def with_oracles(context: typer.Context) -> None:
    """Evaluate policies, on this machine or on a running evaluator."""
    context.with_resource(oracle_parts())


Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of an evaluation.")]


@app.command("run")
@takes_run_options
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
    *,
    shared: RunOptions,
) -> None:
    """Evaluate policies on a data set.

    Every question is answered with every setting of every policy: into the folder --out, where the
    command resumes when it is run again, or by the evaluator --target, which continues without the
    command.
    """
    values = options.values_of(theta, alpha, top_k, settings or [])
    with named_by_options():
        if shared.grid is not None:
            check_grid(shared.grid, values)
    artefacts = tuple(read_artefact(path) for path in policy_file or ())
    names = options.policy_names(policies)
    named = tuple(name for name in names if name not in PRESETS)
    if target is not None:
        planned = options.named_settings(named, allow_mismatch=allow_mismatch)
    else:
        known = shared.tuned_policies() if named else NO_POLICIES
        tuned = (*(known[name] for name in named if name in known), *artefacts)
        named = tuple(name for name in named if name in known)
        planned = options.tuned_settings(tuned, allow_mismatch=allow_mismatch)
    published = tuple(name for name in names if name not in named)
    if published and (policies or not artefacts):
        planned = (*plan_settings(published, values), *planned)
    else:
        check_no_values(values, [each.label for each in planned])
    with named_by_options():
        if gate:
            planned = with_gates(planned, gates_named(options.names_of(gate)))
        if scorer:
            planned = with_scorers(planned, scorers_named(options.names_of(scorer)))
        planned = with_indexes(planned, shared.indexes())
        if shared.grid is not None:
            check_gridded(planned)
    shared.run(dataset, planned, out=out, target=target, artefacts=artefacts)


@app.command("ablate")
@takes_run_options
def ablate(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"Ablation: {', '.join(ABLATIONS)}.",
            autocompletion=complete_ablation,
        ),
    ],
    dataset: options.Dataset,
    out: options.OptionalOut = None,
    target: options.Target = None,
    settings: options.Set = None,
    *,
    shared: RunOptions,
) -> None:
    """Run an ablation of one part of the policies.

    An ablation is a fixed set of settings that differ in that part. Everything else is as for
    `scaar eval run`.
    """
    given = options.values_of(None, None, None, settings or [])
    with named_by_options():
        planned = plan_ablation(name, given, shared.indexes())
        if shared.grid is not None:
            check_grid(shared.grid, {**given, **ABLATIONS[name].values})
            check_gridded(planned)
    shared.run(dataset, planned, out=out, target=target)


@app.command("rescore")
def rescore(folder: Folder, output: Format = None) -> None:
    """Compute scores and report again from predictions."""
    score_and_report(read_results(folder), folder, output)


app.command()(show)
app.command()(compare)
app.command()(report)
app.command()(export)
app.command()(join)
app.command("import")(import_results)
app.command()(queries)
app.command()(conversations)
app.command()(retrieval)
app.command()(gates)
app.command("fit-skr")(fit_skr)
app.command("fit-gate")(fit_gate)
app.command("fit-probe")(fit_probe)
app.command("fit-p-correct")(fit_p_correct)
app.command()(judgements)
app.add_typer(longtail_app, name="longtail")
app.add_typer(router_app, name="router")
app.add_typer(filter_app, name="filter")
app.command("list")(list_evaluations)
app.command()(watch)
app.command()(resume)
app.command()(cancel)
app.command()(worker)
