"""``scaar eval router``: fit a router, which chooses the policy that answers a question."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.eval import options
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Table, Value, number, print_table
from scaar.core.errors import InvalidRequest
from scaar.core.gates.adaptive_rag import adaptive_rag_to_json
from scaar.core.plurals import are, counted
from scaar.core.policies import PRESETS
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.folder import read_results

app = typer.Typer(help="Fit a router, which chooses the policy for a question.")

POLICIES = "no_retrieval,single_round,ircot"
"""The policies of Adaptive-RAG, from the simplest."""
OMIT = "omit"


@app.callback()
def _router() -> None:
    """Fit a router, which chooses the policy for a question."""


@app.command("fit")
def fit(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of finished evaluations with the policies."),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the router.")],
    policies: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Policies to choose from, the simplest first."),
    ] = POLICIES,
    measure: Annotated[
        str,
        typer.Option(metavar="NAME", help="Measure that is 1 for a correct answer."),
    ] = "exact_match",
    unanswered: Annotated[
        str | None,
        typer.Option(
            metavar=f"NAME|{OMIT}",
            help="Policy for questions that none answers, or omit to leave them out. Default: the "
            "last policy for a multi-hop data set, else the first that retrieves.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of the split by entity.")] = 0,
    output: Format = None,
) -> None:
    """Fit Adaptive-RAG's router to the answers of evaluations.

    It learns the simplest policy that answers a question correctly, from the development split. The
    table is of the test split.
    """
    # Only commands that fit load numpy.
    from scaar.evaluator.studies.routing import describe_fit, fit_router, model_of, silver_examples

    names = options.names_of(policies)
    _check(names, unanswered)
    bias = None if unanswered == OMIT else unanswered
    results = [read_results(folder) for folder in folders]
    examples = [
        example
        for each in results
        for example in silver_examples(each, names, measure=measure, bias=bias)
        if example.answered or unanswered != OMIT
    ]
    fitted = fit_router(examples, names, model=model_of(results), measure=measure, seed=seed)
    origin = describe_fit(results, fitted, measure=measure, unanswered=unanswered)
    write_whole(out, adaptive_rag_to_json(fitted.router, learned_from=origin))
    columns = (
        Column("policy", right=False),
        Column("quality", measure.replace("_", " "), number(3)),
        Column("retrievals", "retrievals", number(2)),
        *(Column(name, f"chooses {name}", number(2)) for name in names),
    )
    rows: list[tuple[Value, ...]] = [
        (each.chooser, each.quality, each.retrievals, *(each.chosen.get(n, 0.0) for n in names))
        for each in fitted.outcomes
    ]
    print_table(Table(columns, rows), output)
    print_notes(
        f"fitted on {counted(fitted.development, 'question')}, tested on {fitted.test}; "
        f"{fitted.unanswered} of all {are(fitted.unanswered)} answered by no policy",
        f"the router predicts {fitted.accuracy:.3f} of the test labels",
        f"SCAAR_ORCHESTRATOR_GATE_FILE={out}",
    )


def _check(names: Sequence[str], unanswered: str | None) -> None:
    for at, name in enumerate(names):
        if name not in PRESETS:
            raise InvalidRequest.of("--policies", PRESETS.unknown(name))
        if name in names[:at]:
            raise InvalidRequest.of("--policies", f"{name} is named twice")
    if len(names) < 2:
        raise InvalidRequest.of("--policies", "must name at least two")
    if unanswered is not None and unanswered not in (*names, OMIT):
        known = ", ".join((*names, OMIT))
        raise InvalidRequest.of("--unanswered", f"must be one of {known}, not {unanswered!r}")
