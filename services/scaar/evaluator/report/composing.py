"""The parts of a report in their order."""

from scaar.evaluator.report.analysis import Analysis
from scaar.evaluator.report.brought import tell_brought
from scaar.evaluator.report.by_label import break_down
from scaar.evaluator.report.capped import count_capped
from scaar.evaluator.report.combinations import combine
from scaar.evaluator.report.curves import draw_curves
from scaar.evaluator.report.failures import FailureCount, list_failures
from scaar.evaluator.report.frontier_figure import draw_frontiers
from scaar.evaluator.report.matched_retrievals import match_retrievals
from scaar.evaluator.report.model import Report
from scaar.evaluator.report.origin import say_how, say_what_made_it
from scaar.evaluator.report.summary import summarise


def compose(analysis: Analysis, failures: FailureCount) -> Report:
    """The report of an analysis; a part without content is left out."""
    dataset, settings = analysis.evaluation.dataset, len(analysis.table.settings)
    parts = (
        summarise(analysis),
        say_how(analysis),
        match_retrievals(analysis),
        draw_frontiers(analysis),
        break_down(analysis),
        tell_brought(analysis),
        draw_curves(analysis),
        combine(analysis),
        count_capped(analysis),
        list_failures(analysis, failures),
        say_what_made_it(analysis),
    )
    questions = len(analysis.table.questions)
    return Report(
        title=f"Evaluation on {dataset.name}",
        subtitle=(
            f"{questions:,} question{'' if questions == 1 else 's'}, {settings} setting"
            f"{'' if settings == 1 else 's'} of {len(analysis.contenders)} "
            f"polic{'y' if len(analysis.contenders) == 1 else 'ies'}, "
            f"begun {analysis.evaluation.created}, scaar {analysis.evaluation.scaar}"
        ),
        sections=tuple(part for part in parts if part is not None),
    )
