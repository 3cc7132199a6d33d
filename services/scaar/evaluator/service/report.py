"""The report of an evaluation, made from its rows."""

import asyncio
from typing import TYPE_CHECKING

from scaar.core.evaluations import ReportFormat
from scaar.database.database import Database
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.scoring.scores import score_of
from scaar.evaluator.store.database.evaluations import StoredEvaluation, questions_of
from scaar.evaluator.store.database.predictions import every_prediction
from scaar.evaluator.store.database.transitions import started_evaluation_of

if TYPE_CHECKING:
    from scaar.evaluator.report.builder import ReportBuilder


async def report_of(
    database: Database, stored: StoredEvaluation, report_format: ReportFormat
) -> str:
    """Return the report, the same as that of a folder with the same predictions."""
    # Statistics load numpy, which is needed only for a report.
    from scaar.evaluator.report.builder import ReportBuilder

    evaluation = (await started_evaluation_of(database, stored.number)).evaluation
    questions = await questions_of(database, stored.number)
    by_id, kind = {each.id: each for each in questions}, kind_of(evaluation.dataset.name)
    builder = ReportBuilder(evaluation, questions)
    async for prediction in every_prediction(database, stored.number):
        builder.add_score(score_of(by_id[prediction.question_id], prediction, kind))
        builder.add_prediction(prediction)
    return await asyncio.to_thread(_written, builder, report_format)


def _written(builder: "ReportBuilder", report_format: ReportFormat) -> str:
    from scaar.evaluator.report.files import written_as

    return written_as(builder.build()[0], report_format)
