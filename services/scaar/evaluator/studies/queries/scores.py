"""The recall and the terms of a run as a table, by question and label."""

from collections.abc import Sequence
from statistics import fmean

from scaar.core.types import PolicyRequest, Usage
from scaar.evaluator.records import Score, Setting
from scaar.evaluator.statistics.table import ScoreTable, TableBuilder
from scaar.evaluator.studies.queries.records import CUTS, Retrieval
from scaar.evaluator.studies.queries.store import QueryResults

TERMS = "terms"
"""The column of the number of words of a query."""

_NOTHING = Usage(0, 0, 0, 0, 0.0)


def recall(cut: int) -> str:
    """Return the column of the recall of a retrieval at ``cut`` passages."""
    return f"recall@{cut}"


def together(cut: int) -> str:
    """Return the column of the recall of all retrievals of a question at ``cut`` passages each."""
    return f"together@{cut}"


def table_of(results: QueryResults) -> ScoreTable:
    """Return the table of the questions whose draft does more than conclude.

    A question counts once, regardless of the number of sentences in its draft: its recall is the
    mean over its retrievals.
    """
    records = [each for each in results.records if any(each.retrievals.values())]
    ids = {each.question_id for each in records}
    labels = [each.label for each in results.evaluation.variants]
    questions = [each for each in results.questions if each.id in ids]
    # The table uses only the label of a setting.
    builder = TableBuilder(questions, [Setting(label, PolicyRequest()) for label in labels])
    for each in records:
        for label in labels:
            values = _values(each.retrievals[label])
            builder.add_score(Score(label, each.question_id, values, _NOTHING))
    table = builder.build()
    return table.only(table.measures)


def _values(retrievals: Sequence[Retrieval]) -> dict[str, float]:
    values = {TERMS: fmean(len(each.query.split()) for each in retrievals)}
    for cut in CUTS:
        found = [[0 < rank <= cut for rank in each.ranks] for each in retrievals]
        values[recall(cut)] = fmean(fmean(each) for each in found)
        values[together(cut)] = fmean(any(each) for each in zip(*found, strict=True))
    return values
