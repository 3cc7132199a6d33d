"""The report of a run over drafts as files in its folder, each whole or not there."""

from pathlib import Path

from scaar.core.errors import ScaarError
from scaar.core.measures.interval import RESAMPLES
from scaar.evaluator.queries.askings import reference_of
from scaar.evaluator.queries.comparing import Comparing
from scaar.evaluator.queries.report import compose
from scaar.evaluator.queries.scoring import table_of
from scaar.evaluator.queries.store import QueryResults
from scaar.evaluator.report.files import to_csv, to_json
from scaar.evaluator.report.markdown import to_markdown
from scaar.evaluator.report.model import Report
from scaar.evaluator.store.files import unwritable, write_whole


def write_query_report(
    results: QueryResults,
    out: Path,
    *,
    reference: str | None = None,
    resamples: int = RESAMPLES,
) -> Report:
    """Writes report.md, report.json and tables/*.csv; the same results give the same bytes.

    Raises:
        InvalidRequest: there is no such reference.
        ScaarError: nothing was retrieved yet, or a file cannot be written.
    """
    if not any(any(each.retrievals.values()) for each in results.asked):
        raise ScaarError(f"{out} holds no retrieval yet")
    comparing = Comparing(results.evaluation, table_of(results), resamples=resamples)
    report = compose(
        results, comparing, reference=reference_of(results.evaluation.askings, reference)
    )
    contents = {f"tables/{each.name}.csv": to_csv(each) for each in report.tables()}
    contents["report.md"] = to_markdown(report)
    contents["report.json"] = to_json(report, tuple(contents))
    for name, content in contents.items():
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(path.parent, error) from error
        write_whole(path, content.encode())
    return report
