"""The files of the report of a comparison of query formulations, written atomically."""

from pathlib import Path

from scaar.core.errors import ScaarError
from scaar.evaluator.report.files import to_csv, to_json
from scaar.evaluator.report.markdown import to_markdown
from scaar.evaluator.report.model import Report
from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.store.files import write_texts
from scaar.evaluator.store.studies import lines_of
from scaar.evaluator.studies.queries.comparison import FormulationComparison
from scaar.evaluator.studies.queries.formulations import reference_of
from scaar.evaluator.studies.queries.report import compose
from scaar.evaluator.studies.queries.scores import table_of
from scaar.evaluator.studies.queries.store import RETRIEVALS, QueryResults


def write_query_report(
    results: QueryResults,
    out: Path,
    *,
    reference: str | None = None,
    resamples: int = RESAMPLES,
) -> Report:
    """Write report.md, report.json, tables/*.csv and retrievals.jsonl.

    The same results give the same bytes. ``retrievals.jsonl`` has a line for each question.

    Raises:
        InvalidRequest: the reference is unknown.
        ScaarError: there is no retrieval, or a file cannot be written.
    """
    if not any(any(each.retrievals.values()) for each in results.records):
        raise ScaarError(f"{out} contains no retrieval yet")
    comparison = FormulationComparison(results.evaluation, table_of(results), resamples=resamples)
    report = compose(
        results, comparison, reference=reference_of(results.evaluation.variants, reference)
    )
    contents = {f"tables/{each.name}.csv": to_csv(each) for each in report.tables()}
    contents["report.md"] = to_markdown(report)
    contents["report.json"] = to_json(report, tuple(contents))
    contents["retrievals.jsonl"] = lines_of(RETRIEVALS, results.records).decode()
    write_texts(out, contents)
    return report
