"""``scaar eval judgements`` and ``fit-gate``: the gates of an evaluation, and their thresholds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.completion import complete_gate
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Interval, Table, Value, interval, number, print_table
from scaar.core.errors import InvalidRequest
from scaar.core.gates.gate_json import GateDocument, gate_content
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.folder import read_results

_RETRIEVED = Column("retrieved", "retrieved", number(2))


def judgements(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Folders of finished evaluations of the same questions; the first has "
            "no_retrieval and single_round without a gate.",
        ),
    ],
    output: Format = None,
) -> None:
    """Compare the gates of evaluations.

    AUROC is that of wrong answers without retrieval, by the gate's judgement. F1 is compared with
    that of a random choice of as many questions.
    """
    # Only commands that compute load numpy.
    from scaar.evaluator.studies.judgements import rows_of

    columns = (
        Column("choice", right=False),
        Column("auroc", "AUROC [95%]", interval(3)),
        _RETRIEVED,
        Column("f1", "F1 [95%]", interval(3)),
        Column("random", "F1 at random", number(3)),
        Column("gain", "difference [95%]", interval(3, sign="+")),
        Column("searches", "searches", number(2)),
        Column("calls", "calls", number(2)),
        Column("tokens", "tokens", number(0)),
    )
    rows: list[tuple[Value, ...]] = [
        (
            row.label,
            Interval.of(row.auroc),
            row.retrieved,
            Interval.of(row.f1),
            row.random,
            Interval.of(row.gain),
            row.searches,
            row.calls,
            row.tokens,
        )
        for row in rows_of([read_results(each) for each in folders])
    ]
    print_table(Table(columns, rows), output)


def fit_gate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of a finished evaluation with the gate.")
    ],
    gate: Annotated[
        str, typer.Option(metavar="NAME", help="The gate.", autocompletion=complete_gate)
    ],
    budget: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.001, max=0.999, help="Share of the questions to retrieve for."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the gate.")],
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Gate file of the evaluation; the new file has its other fields. Default: none.",
        ),
    ] = None,
    output: Format = None,
) -> None:
    """Fit the threshold of a gate to a retrieval budget.

    The threshold is the quantile of the gate's judgements that as many questions exceed (TARG).
    """
    from scaar.evaluator.studies.judgements import fit_threshold

    results = read_results(folder)
    fitted = fit_threshold(results, gate, budget=budget)
    fields = _fields_of(gate, file, fitted.gate_revision)
    origin = results.evaluation.dataset
    learned_from = {
        "data sets": [
            {"name": origin.name, "questions": fitted.questions, "checksum": origin.checksum}
        ],
        "budget": budget,
    }
    changed = {"threshold": fitted.threshold, "threshold_from": learned_from}
    write_whole(out, gate_content(gate, {**fields, **changed}))
    columns = (Column("questions"), Column("threshold", "threshold", number(4)), _RETRIEVED)
    row = (fitted.questions, fitted.threshold, fitted.retrieved)
    print_table(Table(columns, [row]), output)
    print_notes(f"SCAAR_ORCHESTRATOR_GATE_FILE={out}")


def _fields_of(gate: str, file: Path | None, revision: str) -> Mapping[str, object]:
    """Return the fields of the gate that judged the questions."""
    document = GateDocument.empty(gate)
    if file is not None:
        try:
            document = GateDocument.read(file.read_bytes(), str(file))
        except OSError as error:
            text = f"{file} cannot be read: {error.strerror}"
            raise InvalidRequest.of("--file", text) from error
    if document.revision != revision:
        wanted = f"the gate file with the digest {revision}" if revision else "no gate file"
        raise InvalidRequest.of("--file", f"the evaluation was made with {wanted}")
    own = ("format", "gate")
    return {name: each for name, each in document.fields.fields.items() if name not in own}
