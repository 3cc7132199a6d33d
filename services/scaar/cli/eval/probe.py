"""``scaar eval fit-probe``: the probe of hidden states from answered questions."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Interval, Table, interval, number, print_table
from scaar.compose import open_generator
from scaar.core.errors import InvalidRequest
from scaar.core.gates.closed_book import TOKENS
from scaar.core.gates.probe_json import probe_to_json
from scaar.core.types import Capability
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.folder import read_results
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.evaluator.statistics.table import Floats
    from scaar.evaluator.studies.gates.closed_book import LabelledQuestions

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="Folder of a finished evaluation of no_retrieval with the generator's model.",
    ),
]
Out = Annotated[Path, typer.Option(metavar="FILE", help="File for the gate.")]
Tokens = Annotated[
    int,
    typer.Option(metavar="N", min=1, max=256, help="Maximum number of tokens of an answer."),
]


def fit_probe(
    folder: Folder,
    out: Out,
    layers: Annotated[
        str,
        typer.Option(
            metavar="N,...",
            help="Layers to choose from. Default: at a third, half and two thirds of the depth.",
        ),
    ] = "",
    tokens: Tokens = TOKENS,
    output: Format = None,
) -> None:
    """Fit the gate probe to answers without retrieval.

    The generator of the orchestrator's settings writes each answer again, once per layer. Layer and
    penalty are chosen by cross-validation; AUROC is that of wrong answers, out of fold.
    """
    # Only commands that fit load numpy.
    from scaar.evaluator.studies.gates.closed_book import read_labelled
    from scaar.evaluator.studies.gates.probe_fit import fit_probe as fit

    labelled = read_labelled(read_results(folder))
    fitted = fit(labelled, asyncio.run(_states(labelled, layers, tokens)), tokens=tokens)
    found = fitted.auroc
    origin = {
        **labelled.origin,
        "penalty": fitted.penalty,
        "AUROC out of fold": [found.value, found.low, found.high],
        "AUROC by layer": {str(layer): value for layer, value in fitted.layers.items()},
    }
    write_whole(out, probe_to_json(fitted.gate, learned_from=origin))
    columns = (
        Column("questions"),
        Column("wrong"),
        Column("layer"),
        Column("penalty", "penalty", number(0)),
        Column("auroc", "AUROC [95%]", interval(3)),
    )
    counts = len(labelled.questions), sum(labelled.wrong)
    row = (*counts, fitted.gate.layer, fitted.penalty, Interval.of(found))
    print_table(Table(columns, [row]), output)
    print_notes(f"SCAAR_ORCHESTRATOR_GATE_FILE={out}")


async def _states(labelled: "LabelledQuestions", layers: str, tokens: int) -> "dict[int, Floats]":
    """Return the mean hidden states of the answers, by layer."""
    from scaar.evaluator.studies.gates.closed_book import (
        AnswerWriter,
        check_generator,
        mean_states,
    )
    from scaar.evaluator.studies.gates.probe_fit import default_layers

    async with open_generator(OrchestratorSettings.read().generator_target) as generator:
        described = await generator.describe_model()
        check_generator(labelled, described, "probe", Capability.HIDDEN_STATES)
        highest = described.hidden_layers or 0
        chosen = layers_named(layers, highest) if layers else default_layers(highest)
        progress = EvaluationProgress(what="questions", name="answering")
        with progress.watch(len(labelled.questions), 0) as count:
            writer = AnswerWriter(generator, described, tokens)
            return dict(await mean_states(writer, labelled.questions, chosen, count))


def layers_named(text: str, highest: int) -> tuple[int, ...]:
    """Return the layers of a list.

    Raises:
        InvalidRequest: one is no layer of the model, or is named twice.
    """
    names = [each.strip() for each in text.split(",")]
    for at, name in enumerate(names):
        if not name.isdecimal() or int(name) > highest:
            raise InvalidRequest.of("--layers", f"must be from 0 to {highest}, not {name!r}")
        if name in names[:at]:
            raise InvalidRequest.of("--layers", f"{name} is named twice")
    return tuple(map(int, names))
