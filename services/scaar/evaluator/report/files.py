"""A report as one text in any of its formats, its tables as CSV, and every score as CSV."""

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

from scaar.core.evaluations import ReportFormat
from scaar.evaluator.report.html import to_html
from scaar.evaluator.report.markdown import to_markdown
from scaar.evaluator.report.model import Report, Table
from scaar.evaluator.statistics.table import FAILED, MISSING, USAGE_COLUMNS, ScoreTable

FORMAT = 1
"""Version of the format of report.json."""

_number = "{:.6g}".format

# JSON is where values leave the typed world.
Json = Any


def to_json(report: Report, files: tuple[str, ...]) -> str:
    """Return the report with all digits of every number; ``files`` are those written beside it."""
    document = {
        "format": FORMAT,
        "files": list(files),
        **_plain(dataclasses.replace(report, listings=())),
    }
    del document["listings"]
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def short_files(report: Report) -> dict[str, str]:
    """Return the files of a report without figures: tables/*.csv, report.md and report.json."""
    contents = {f"tables/{each.name}.csv": to_csv(each) for each in report.tables()}
    contents["report.md"] = to_markdown(report)
    contents["report.json"] = to_json(report, tuple(contents))
    return contents


def to_csv(table: Table) -> str:
    """Return a table with all digits of every number; interval bounds have their own columns."""
    bounded = [
        any(cells[at].low is not None for cells in table.rows) for at in range(len(table.columns))
    ]
    noted = [
        column.decimals is not None and any(cells[at].note for cells in table.rows)
        for at, column in enumerate(table.columns)
    ]
    header: list[object] = []
    for at, column in enumerate(table.columns):
        header += [column.name, *(f"{column.name}_{end}" for end in ("low", "high") if bounded[at])]
        header += [f"{column.name}_note"] if noted[at] else []
    rows = [header]
    for cells in table.rows:
        row: list[object] = []
        for at, cell in enumerate(cells):
            row += [cell.value, *((cell.low, cell.high) if bounded[at] else ())]
            row += [cell.note] if noted[at] else []
        rows.append(row)
    return _lines(rows)


def scores_csv(table: ScoreTable) -> Iterator[str]:
    """Yield every score with its usage, setting by setting; missing predictions are left out."""
    columns = (*table.measures, *USAGE_COLUMNS, FAILED)
    at = [table.columns.index(name) for name in columns]
    yield _lines([("setting", "question_id", "entity", *columns)])
    for setting, values in zip(table.settings, table.values, strict=True):
        missing = values[table.columns.index(MISSING)]
        yield _lines(
            (setting.label, question.id, question.entity, *map(_number, numbers))
            for question, numbers, skip in zip(
                table.questions, values[at].T.tolist(), missing, strict=True
            )
            if not skip
        )


def _lines(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _plain(value: Json) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__.lower()
        fields = {
            each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)
        }
        named = {"type": kind, **fields} if kind in ("table", "figure", "bars") else fields
        return {name: each for name, each in named.items() if not _left_out(name, each)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def _left_out(name: str, value: Json) -> bool:
    """Whether a field is omitted: None, and marks that only pages show."""
    if value is None:
        return name != "value"
    return name in ("link", "pinned") or (name == "best" and not value)


def written_as(report: Report, report_format: ReportFormat) -> str:
    """Return the report in a format."""
    match report_format:
        case ReportFormat.MARKDOWN:
            return to_markdown(report)
        case ReportFormat.HTML:
            return to_html(report)
        case ReportFormat.JSON:
            return to_json(report, ())
        case _:
            assert_never(report_format)
