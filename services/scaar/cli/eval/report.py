"""``scaar eval report`` and ``join``: write the report of one evaluation, or of several."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.addresses import OptionalEvaluator
from scaar.cli.completion import complete_policy
from scaar.cli.eval.options import EvaluationName
from scaar.cli.eval.service import call_evaluator
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import ReportFormat
from scaar.core.ports import Evaluator
from scaar.evaluator.report.model import ReportOptions
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.store.folder import read_results

FILES = {
    ReportFormat.MARKDOWN: "report.md",
    ReportFormat.HTML: "report.html",
    ReportFormat.JSON: "report.json",
}
"""The file of each format of a report."""


def report(
    results: EvaluationName,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the report. Default: the folder of the evaluation; required with "
            "--target, unless --format is given.",
        ),
    ] = None,
    report_format: Annotated[
        ReportFormat | None,
        typer.Option("--format", help="Print the report in this format instead of writing files."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="Policy that the others are compared with. Default: scaar, if it was evaluated.",
            autocompletion=complete_policy,
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure by which settings are chosen, of the data set or any other. Default: f1 "
            "for free-form answers.",
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(metavar="N", help="Number of bootstrap samples.")
    ] = RESAMPLES,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of the bootstrap samples.")] = 0,
    target: OptionalEvaluator = None,
) -> None:
    """Write the report of an evaluation.

    The report is report.html, report.md and report.json, with tables and figures. The reference,
    the measure, the samples and the seed can be set for a folder only.
    """
    options = ReportOptions(measure, reference, resamples, seed)
    if target is None:
        _report_stored(Path(results), out, report_format, options)
    else:
        if options != ReportOptions():
            text = "has a report with the default reference, measure, samples and seed only"
            raise InvalidRequest.of("--target", text)
        _report_hosted(results, target, out, report_format)


def _report_stored(
    folder: Path, out: Path | None, report_format: ReportFormat | None, options: ReportOptions
) -> None:
    # Only commands that need statistics load numpy.
    from scaar.evaluator.report.builder import ReportBuilder
    from scaar.evaluator.report.files import written_as
    from scaar.evaluator.report.writer import write_report

    found = read_results(folder)
    scores = scores_of(found, options.measure)
    if report_format is None:
        write_report(
            found.evaluation,
            found.questions,
            scores=scores,
            predictions=found.predictions,
            out=out or folder,
            options=options,
        )
        print((out or folder) / FILES[ReportFormat.HTML])
        return
    builder = ReportBuilder(found.evaluation, found.questions)
    for score in scores:
        builder.add_score(score)
    for prediction in found.predictions:
        builder.add_prediction(prediction)
    sys.stdout.write(written_as(builder.build(options)[0], report_format))


def _report_hosted(
    evaluation_id: str, target: str, out: Path | None, report_format: ReportFormat | None
) -> None:
    if (out is None) == (report_format is None):
        raise InvalidRequest.of("--out", "or --format must be given with --target, but not both")
    if out is None:
        assert report_format is not None
        kind = report_format
        sys.stdout.write(call_evaluator(target, lambda each: each.report(evaluation_id, kind)))
        return
    # Only commands that write files load the store.
    from scaar.evaluator.store.files import write_texts

    async def reports(evaluator: Evaluator) -> dict[ReportFormat, str]:
        return {each: await evaluator.report(evaluation_id, each) for each in ReportFormat}

    found = call_evaluator(target, reports)
    write_texts(out, {FILES[each]: content for each, content in found.items()})
    print(out / FILES[ReportFormat.HTML])


def join(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR", help="Folders of evaluations.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the report, a new one.")],
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure by which settings are chosen. Default: f1 for free-form answers.",
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(metavar="N", help="Number of bootstrap samples.")
    ] = RESAMPLES,
    seed: Annotated[int, typer.Option(metavar="S", help="Seed of the bootstrap samples.")] = 0,
) -> None:
    """Write one report of several evaluations.

    The evaluations may differ in model, data set, seed or a parameter of the data set.
    """
    # Only commands that need statistics load numpy.
    from scaar.evaluator.studies.joining.report import write_joined

    write_joined(folders, out, ReportOptions(measure, None, resamples, seed))
    print(out / "report.html")
