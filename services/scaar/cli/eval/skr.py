"""``scaar eval fit-skr``: the gate of SKR from answered questions."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.eval import options
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Table, number, print_table
from scaar.core.distributions import library_required
from scaar.core.gates.skr import NEIGHBOURS
from scaar.core.gates.skr_json import skr_to_json
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.studies.gates.answered import default_encoder_of, read_answered


def fit_skr(
    sources: options.AnsweredSources,
    out: Annotated[Path, typer.Option(metavar="FILE", help="File for the gate.")],
    encoder: options.EncoderFolder = None,
    answers: options.AnswerFields = "",
    neighbours: Annotated[
        int, typer.Option(metavar="K", min=1, max=1_000, help="Number of neighbours that vote.")
    ] = NEIGHBOURS,
    output: Format = None,
) -> None:
    """Fit the gate of SKR to answered questions.

    They were answered without retrieval and with one retrieval.
    """
    answered = read_answered(sources, answers)
    folder = encoder or default_encoder_of(answered)
    with library_required("the encoder of the gate skr", "scorer"):
        from scaar.encoders.sentence_encoder import SentenceEncoder
        from scaar.evaluator.studies.gates.skr_fit import describe_skr
        from scaar.evaluator.studies.gates.skr_fit import fit_skr as fit
    gate = fit(answered, SentenceEncoder.open(folder, threads=1), neighbours=neighbours)
    write_whole(out, skr_to_json(gate, learned_from=describe_skr(answered, gate)))
    helped = sum(gate.helped)
    columns = (
        Column("questions"),
        Column("helped"),
        Column("harmed"),
        Column("unchanged"),
        Column("threshold", "threshold", number(3)),
    )
    row = (len(answered), helped, len(gate.helped) - helped, gate.unchanged, gate.threshold)
    print_table(Table(columns, [row]), output)
    print_notes(
        f"SCAAR_ORCHESTRATOR_GATE_FILE={out}",
        f"SCAAR_ORCHESTRATOR_GATE_ENCODER={folder}",
    )
