"""A report made of scores and predictions as they come."""

from collections.abc import Sequence

from scaar.evaluator.records import Prediction, Question, Score
from scaar.evaluator.report.analysis import analyse
from scaar.evaluator.report.composing import compose
from scaar.evaluator.report.failures import FailureCount
from scaar.evaluator.report.model import Report
from scaar.evaluator.report.options import ReportOptions
from scaar.evaluator.results import Evaluation
from scaar.evaluator.statistics.table import ScoreTable, TableBuilder


class ReportBuilder:
    """Takes what was answered in any order; none of it needs to be held in memory."""

    def __init__(self, evaluation: Evaluation, questions: Sequence[Question]) -> None:
        self._evaluation = evaluation
        self._table = TableBuilder(questions, evaluation.settings)
        self._failures = FailureCount()

    def add_score(self, score: Score) -> None:
        """Takes a score; raises InvalidRequest where it is of nothing that is evaluated."""
        self._table.add_score(score)

    def add_prediction(self, prediction: Prediction) -> None:
        """Counts its words, and its failure where it has one."""
        self._table.add_prediction(prediction)
        self._failures.add(prediction)

    def build(self, options: ReportOptions | None = None) -> tuple[Report, ScoreTable]:
        """The report of all that was added, and the table that it is made from.

        Raises:
            InvalidRequest: an option does not fit.
        """
        table = self._table.build()
        return compose(analyse(self._evaluation, table, options), self._failures), table
