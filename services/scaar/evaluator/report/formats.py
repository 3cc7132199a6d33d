"""A report as one text in any of its formats."""

from typing import assert_never

from scaar.core.evaluations import ReportFormat
from scaar.evaluator.report.files import to_json
from scaar.evaluator.report.html import to_html
from scaar.evaluator.report.markdown import to_markdown
from scaar.evaluator.report.model import Report


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
