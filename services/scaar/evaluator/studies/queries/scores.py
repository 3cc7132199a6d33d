"""The recall and the terms of a run as a table, by question and label."""

from collections.abc import Sequence
from statistics import fmean

from scaar.core.types import PolicyRequest, Usage
from scaar.evaluator.records import Score, Setting
from scaar.evaluator.statistics.table import ScoreTable, TableBuilder
from scaar.evaluator.studies.queries.records import CUTS, Retrieval
from scaar.evaluator.studies.queries.store import QueryResults

TERMS = "terms"
"""The column of the number of words of a retrieval's queries."""
SEARCHES = "searches_per_answer"
"""The column of the number of searches of an answer."""

_NOTHING = Usage(0, 0, 0, 0, 0.0)


def recall(cut: int) -> str:
    """Return the column of the recall of a retrieval at ``cut`` passages."""
    return f"recall@{cut}"


def per_answer(cut: int) -> str:
    """Return the column of the new supports of an answer at ``cut`` passages per retrieval.

    The share of the supports that any retrieval of the answer found.
    """
    return f"new_per_answer@{cut}"


def per_retrieval(cut: int) -> str:
    """Return the column of the new supports of a retrieval at ``cut`` passages.

    The share of the supports that a retrieval found and no earlier one of the answer did.
    """
    return f"new_per_retrieval@{cut}"


def distinct(cut: int) -> str:
    """Return the column of the number of distinct passages that an answer read."""
    return f"distinct@{cut}"


def passages_read(cut: int) -> str:
    """Return the column of the number of passages that an answer read, repeated ones included."""
    return f"passages@{cut}"


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
    queries = [each.queries for each in retrievals]
    values = {
        TERMS: fmean(sum(len(each.split()) for each in some) for some in queries),
        SEARCHES: float(sum(map(len, queries))),
    }
    for at, cut in enumerate(CUTS):
        readings = [each.readings[at] for each in retrievals]
        found = [[rank > 0 for rank in each.ranks] for each in readings]
        values[per_answer(cut)] = fmean(any(each) for each in zip(*found, strict=True))
        values[per_retrieval(cut)] = values[per_answer(cut)] / len(retrievals)
        values[recall(cut)] = fmean(fmean(each) for each in found)
        values[distinct(cut)] = float(sum(each.fresh for each in readings))
        values[passages_read(cut)] = float(sum(each.passages for each in readings))
    return values
