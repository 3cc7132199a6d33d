"""The files of a report in a folder, each written atomically."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from scaar.evaluator.records import Prediction, Question, Score
from scaar.evaluator.report.builder import ReportBuilder
from scaar.evaluator.report.files import scores_csv, to_csv, to_json
from scaar.evaluator.report.html import to_html
from scaar.evaluator.report.markdown import to_markdown
from scaar.evaluator.report.model import Bars, Figure, Report, ReportOptions
from scaar.evaluator.report.style import FIGURE_STYLE
from scaar.evaluator.report.svg import bars_svg, figure_svg
from scaar.evaluator.results import Evaluation
from scaar.evaluator.store.files import write_texts

REPORT_FILE = "report.json"
_OURS = {"tables": ".csv", "figures": ".svg"}
"""The folders whose files of an earlier report are removed, with the suffix of those files."""
NOTHING: Mapping[str, str] = MappingProxyType({})


def write_report(
    evaluation: Evaluation,
    questions: Iterable[Question],
    *,
    scores: Iterable[Score],
    predictions: Iterable[Prediction] = (),
    out: Path,
    options: ReportOptions | None = None,
) -> Report:
    """Write report.md, .html and .json, scores.csv, tables/*.csv and figures/*.svg into ``out``.

    Scores and predictions are read once, in any order, and need not fit in memory; predictions
    provide failures and judged words. The same evaluation gives the same bytes.

    Raises:
        InvalidRequest: a score is of no question or setting of the evaluation, or an option is
            out of range.
        ScaarError: a file cannot be written.
    """
    builder = ReportBuilder(evaluation, tuple(questions))
    for score in scores:
        builder.add_score(score)
    for prediction in predictions:
        builder.add_prediction(prediction)
    report, table = builder.build(options)
    write_files(report, out, beside={"scores.csv": "".join(scores_csv(table))})
    return report


def write_files(report: Report, out: Path, *, beside: Mapping[str, str] = NOTHING) -> None:
    """Write a report in every format, and the files ``beside`` it, into ``out``.

    Tables and figures of an earlier report that this one lacks are removed.

    Raises:
        ScaarError: a file cannot be written.
    """
    before = _written_before(out)
    contents = {**dict(_contents(report)), **beside}
    names = (*contents, REPORT_FILE)
    # report.json is the last, since it lists the files of this report.
    write_texts(out, {**contents, REPORT_FILE: to_json(report, names)})
    for name in before - set(names):
        (out / name).unlink(missing_ok=True)


def drawn_alone(figure: Figure | Bars) -> str:
    """Return a figure as a standalone SVG, with the style sheet that its page would provide."""
    first, rest = (bars_svg(figure) if isinstance(figure, Bars) else figure_svg(figure)).split(
        "\n", 1
    )
    page = '<rect width="100%" height="100%" style="fill:var(--page)"/>'
    return f"{first}\n<style>\n{FIGURE_STYLE}</style>\n{page}\n{rest}\n"


def _contents(report: Report) -> Iterator[tuple[str, str]]:
    yield "report.md", to_markdown(report)
    yield "report.html", to_html(report)
    for table in report.tables():
        yield f"tables/{table.name}.csv", to_csv(table)
    for figure in report.figures():
        yield f"figures/{figure.name}.svg", drawn_alone(figure)


def _written_before(out: Path) -> set[str]:
    """The tables and figures of an earlier report in this folder."""
    try:
        read = json.loads((out / REPORT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    listed = read.get("files") if isinstance(read, dict) else None
    if not isinstance(listed, list):
        return set()
    paths = (PurePosixPath(name) for name in listed if isinstance(name, str))
    # A report.json of another program must not cause other files to be removed.
    return {str(each) for each in paths if _OURS.get(str(each.parent)) == each.suffix}
