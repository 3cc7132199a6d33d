"""What the queries of a run found, as a table: recall and terms, a question and label each."""

from collections.abc import Sequence
from statistics import fmean

from scaar.core.types import PolicyRequest, Usage
from scaar.evaluator.queries.records import CUTS, Retrieval
from scaar.evaluator.queries.store import QueryResults
from scaar.evaluator.records import Score, Setting
from scaar.evaluator.statistics.table import ScoreTable, TableBuilder

TERMS = "terms"
"""Words of a query."""

_NOTHING = Usage(0, 0, 0, 0, 0.0)


def recall(cut: int) -> str:
    """The column of the supports that a retrieval finds among its first ``cut`` passages."""
    return f"recall@{cut}"


def together(cut: int) -> str:
    """The column of the supports that all retrievals of a question find, ``cut`` each."""
    return f"together@{cut}"


def table_of(results: QueryResults) -> ScoreTable:
    """The table of the questions that were asked and whose draft does more than conclude.

    A question counts once, however many sentences its draft has: its recall is the mean over its
    retrievals.
    """
    asked = [each for each in results.asked if any(each.retrievals.values())]
    ids = {each.question_id for each in asked}
    labels = [each.label for each in results.evaluation.askings]
    questions = [each for each in results.questions if each.id in ids]
    # Of a setting the table uses the label alone.
    builder = TableBuilder(questions, [Setting(label, PolicyRequest()) for label in labels])
    for each in asked:
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
