"""An evaluation as it was kept, measured and ready for every part of a report."""

from scaar.evaluator.report.analysis import Analysis, analyse
from scaar.evaluator.report.options import ReportOptions
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.statistics.table import TableBuilder


def analyse_results(results: Results, options: ReportOptions | None = None) -> Analysis:
    """The analysis of all predictions that there are.

    Raises:
        InvalidRequest: an option does not fit.
    """
    builder = TableBuilder(results.questions, results.evaluation.settings)
    for score in scores_of(results):
        builder.add_score(score)
    for prediction in results.predictions:
        builder.add_prediction(prediction)
    return analyse(results.evaluation, builder.build(), options)
