"""The report of an evaluation that has succeeded, made of its rows."""

import asyncio
from typing import TYPE_CHECKING, assert_never

from scaar.core.evaluations import ReportForm
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.scoring.scores import score_of
from scaar.evaluator.store.database.evaluations import StoredEvaluation, questions_of
from scaar.evaluator.store.database.opening import Database
from scaar.evaluator.store.database.predictions import every_prediction
from scaar.evaluator.store.database.transitions import begun_of

if TYPE_CHECKING:
    from scaar.evaluator.report.building import ReportBuilder


async def report_of(database: Database, stored: StoredEvaluation, form: ReportForm) -> str:
    """The report; the same as that of a folder of the same predictions."""
    # Statistics load numpy: not before there is a report to be made.
    from scaar.evaluator.report.building import ReportBuilder

    evaluation = (await begun_of(database, stored.number)).evaluation
    questions = await questions_of(database, stored.number)
    by_id, kind = {each.id: each for each in questions}, kind_of(evaluation.dataset.name)
    builder = ReportBuilder(evaluation, questions)
    async for prediction in every_prediction(database, stored.number):
        builder.add_score(score_of(by_id[prediction.question_id], prediction, kind))
        builder.add_prediction(prediction)
    return await asyncio.to_thread(_written, builder, form)


def _written(builder: "ReportBuilder", form: ReportForm) -> str:
    from scaar.evaluator.report.files import to_json
    from scaar.evaluator.report.html import to_html
    from scaar.evaluator.report.markdown import to_markdown

    report, _ = builder.build()
    match form:
        case ReportForm.MARKDOWN:
            return to_markdown(report)
        case ReportForm.HTML:
            return to_html(report)
        case ReportForm.JSON:
            return to_json(report, ())
        case _:
            assert_never(form)
