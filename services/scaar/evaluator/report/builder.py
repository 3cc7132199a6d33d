"""A report built from scores and predictions in any order."""

from collections.abc import Sequence

from scaar.core.plurals import counted
from scaar.evaluator.oracles import oracle_parts
from scaar.evaluator.records import Prediction, Question, Score
from scaar.evaluator.report.abstentions import AbstentionCount, report_abstentions
from scaar.evaluator.report.analysis import Analysis, analyse
from scaar.evaluator.report.by_label import break_down
from scaar.evaluator.report.capped_thresholds import count_capped
from scaar.evaluator.report.combinations import combine
from scaar.evaluator.report.curves import draw_curves
from scaar.evaluator.report.detection import report_detection
from scaar.evaluator.report.failures import FailureCount, list_failures
from scaar.evaluator.report.frontier_figure import draw_frontiers
from scaar.evaluator.report.listings import list_questions
from scaar.evaluator.report.matched_budgets import match_retrievals
from scaar.evaluator.report.model import Report, ReportOptions
from scaar.evaluator.report.provenance import describe_comparison, describe_provenance
from scaar.evaluator.report.retrieval_outcomes import report_support_recall
from scaar.evaluator.report.summary import summarise
from scaar.evaluator.report.verdict import state_verdict
from scaar.evaluator.results import Evaluation
from scaar.evaluator.scoring.detection import JudgedDraftsBuilder
from scaar.evaluator.statistics.table import ScoreTable, TableBuilder


class ReportBuilder:
    """Collects scores and predictions in any order, without holding them in memory."""

    def __init__(self, evaluation: Evaluation, questions: Sequence[Question]) -> None:
        self._evaluation = evaluation
        self._table = TableBuilder(questions, evaluation.settings)
        self._failures = FailureCount()
        self._abstentions = AbstentionCount()
        self._drafts = JudgedDraftsBuilder(questions, evaluation.settings)

    def add_score(self, score: Score) -> None:
        """Add a score; raise InvalidRequest if the evaluation lacks its question or setting."""
        self._table.add_score(score)

    def add_prediction(self, prediction: Prediction) -> None:
        """Count the judged words of a prediction, and its failure if it failed."""
        self._table.add_prediction(prediction)
        self._failures.add(prediction)
        self._abstentions.add(prediction)
        self._drafts.add_prediction(prediction)

    @oracle_parts()
    def build(self, options: ReportOptions | None = None) -> tuple[Report, ScoreTable]:
        """Return the report of everything added, and the table that it is computed from.

        Raises:
            InvalidRequest: an option is out of range or names no policy or measure.
        """
        table = self._table.build()
        analysis = analyse(self._evaluation, table, options)
        return compose(analysis, self._failures, self._drafts, self._abstentions), table


def compose(
    analysis: Analysis,
    failures: FailureCount,
    drafts: JudgedDraftsBuilder | None = None,
    abstentions: AbstentionCount | None = None,
) -> Report:
    """Return the report of an analysis; sections without content are left out.

    Without ``drafts``, nothing is detected; without ``abstentions``, none is counted.
    """
    evaluation = analysis.evaluation
    sections = (
        summarise(analysis),
        describe_comparison(analysis),
        match_retrievals(analysis),
        draw_frontiers(analysis),
        break_down(analysis),
        report_support_recall(analysis),
        None if drafts is None else report_detection(analysis, drafts),
        draw_curves(analysis),
        combine(analysis),
        count_capped(analysis),
        None if abstentions is None else report_abstentions(abstentions),
        list_failures(analysis, failures),
        describe_provenance(analysis),
    )
    policies = len(analysis.variants)
    return Report(
        title=f"Evaluation on {evaluation.dataset.name}",
        subtitle=(
            f"{counted(len(analysis.table.questions), 'question')}, "
            f"{counted(len(analysis.table.settings), 'setting')} of "
            f"{policies} polic{'y' if policies == 1 else 'ies'}, "
            f"started {evaluation.created}, scaar {evaluation.scaar}"
        ),
        sections=tuple(each for each in sections if each is not None),
        verdict=state_verdict(analysis),
        listings=list_questions(analysis),
    )
