"""``scaar eval fit-p-correct``: the gate of calibrated P(correct) from answered questions."""

import asyncio
import enum
from typing import TYPE_CHECKING, Annotated

import typer

from scaar.cli.eval.probe import Folder, Out, Tokens
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Interval, Table, interval, number, print_table
from scaar.compose import open_generator
from scaar.core.gates.closed_book import TOKENS
from scaar.core.gates.p_correct import FEW, AnswerSignal
from scaar.core.gates.p_correct_json import ISOTONIC, PLATT, p_correct_to_json
from scaar.core.types import Capability
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.store.folder import read_results
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.core.gates.p_correct import Logprobs
    from scaar.evaluator.studies.gates.closed_book import LabelledQuestions


class CurveKind(enum.StrEnum):
    """The kinds of curves."""

    PLATT = PLATT
    ISOTONIC = ISOTONIC


def fit_p_correct(
    folder: Folder,
    out: Out,
    signal: Annotated[
        AnswerSignal,
        typer.Option(help="Signal of an answer: the mean or the lowest token log-probability."),
    ] = AnswerSignal.MEAN_SURPRISAL,
    curve: Annotated[
        CurveKind, typer.Option(help="Curve from the signal to P(correct).")
    ] = CurveKind.PLATT,
    abstain_below: Annotated[
        float,
        typer.Option(
            metavar="P",
            min=0.0,
            max=1.0,
            help="P(correct) below which an answer abstains after a retrieval; 0 is never.",
        ),
    ] = 0.0,
    few_above: Annotated[
        float,
        typer.Option(
            metavar="P",
            min=0.0,
            max=1.0,
            help="P(correct) from which a retrieval has only --few passages; 1 is never.",
        ),
    ] = 1.0,
    few: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of passages for --few-above.")
    ] = FEW,
    tokens: Tokens = TOKENS,
    output: Format = None,
) -> None:
    """Fit the gate p_correct to answers without retrieval.

    The generator of the orchestrator's settings writes each answer again. ECE is the expected
    calibration error before the curve and, out of fold, after it. AUROC is that of wrong answers,
    out of fold.
    """
    # Only commands that fit load numpy.
    from scaar.evaluator.studies.gates.closed_book import read_labelled
    from scaar.evaluator.studies.gates.p_correct_fit import fit_p_correct as fit

    labelled = read_labelled(read_results(folder))
    answers = asyncio.run(_logprobs(labelled, tokens))
    fitted = fit(
        labelled,
        answers,
        signal=signal,
        kind=curve.value,
        abstain_below=abstain_below,
        tokens=tokens,
        few_above=few_above,
        few=few,
    )
    measured = {
        "ECE before": fitted.before,
        "ECE out of fold": fitted.after,
        "AUROC out of fold": fitted.auroc,
    }
    intervals = {name: [each.value, each.low, each.high] for name, each in measured.items()}
    origin = {**labelled.origin, **intervals}
    write_whole(out, p_correct_to_json(fitted.gate, learned_from=origin))
    columns = (
        Column("questions"),
        Column("wrong"),
        Column("threshold", "threshold", number(2)),
        Column("before", "ECE before [95%]", interval(3)),
        Column("after", "ECE after [95%]", interval(3)),
        Column("auroc", "AUROC [95%]", interval(3)),
    )
    counts = len(labelled.questions), sum(labelled.wrong)
    cells = map(Interval.of, measured.values())
    print_table(Table(columns, [(*counts, fitted.gate.threshold, *cells)]), output)
    print_notes(f"SCAAR_ORCHESTRATOR_GATE_FILE={out}")


async def _logprobs(labelled: "LabelledQuestions", tokens: int) -> "list[Logprobs]":
    """Return the log-probabilities of the tokens of each answer."""
    from scaar.evaluator.studies.gates.closed_book import AnswerWriter, check_generator

    async with open_generator(OrchestratorSettings.read().generator_target) as generator:
        described = await generator.describe_model()
        check_generator(labelled, described, "p_correct", Capability.LOGPROBS)
        progress = EvaluationProgress(what="questions", name="answering")
        writer = AnswerWriter(generator, described, tokens)
        found = list["Logprobs"]()
        with progress.watch(len(labelled.questions), 0) as count:
            for each in labelled.questions:
                written = await writer.write(each.question)
                found.append([token.logprob for token in written])
                count(each)
        return found
