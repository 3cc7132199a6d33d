"""The predictions of an evaluation, one row for each question and setting."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import Executable

from scaar.database.database import Database, run_to_end
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.planning.work import Key
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.evaluator.scoring.scores import main_measure_of, score_of
from scaar.evaluator.store.database.tables import PREDICTIONS
from scaar.evaluator.store.record_json import RecordJson

_PREDICTION = RecordJson(Prediction)
_GATHER_S = 0.25
"""A transaction costs the service and the database some milliseconds, whatever its size."""
_BATCH = 500
"""Maximum number of predictions that are read at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a prediction in the plan: the positions of its question and its setting."""

    question: int
    setting: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a setting, by its position: counts, and means over its predictions."""

    setting: int
    done: int
    failed: int
    score: float
    retrievals: float


class ShardPredictions:
    """A :class:`~scaar.evaluator.execution.items.PredictionStore` for the questions of a shard.

    ``questions`` start at the position ``first``. A failure is final after ``attempts`` attempts;
    until then the prediction counts as not made.
    """

    gather_s = _GATHER_S

    def __init__(
        self,
        database: Database,
        evaluation: int,
        *,
        first: int,
        questions: Sequence[Question],
        settings: Sequence[Setting],
        kind: DatasetKind,
        attempts: int,
    ) -> None:
        self._database = database
        self._evaluation = evaluation
        self._first, self._last = first, first + len(questions)
        self._questions = {each.id: (first + at, each) for at, each in enumerate(questions)}
        self._settings = {each.label: at for at, each in enumerate(settings)}
        self._ids = [each.id for each in questions]
        self._labels = [each.label for each in settings]
        self._kind = kind
        self._attempts = attempts
        self._upsert = _upsert(database, attempts)

    async def known(self) -> Mapping[Key, bool]:
        return await self._database.shielded(self._known())

    async def add(self, predictions: Sequence[Prediction]) -> None:
        rows = map(self._row, predictions)
        # One order for all writers prevents deadlocks between two that store the same rows.
        in_order = sorted(rows, key=itemgetter("question", "setting"))
        await self._database.shielded(self._add(in_order))

    async def _known(self) -> Mapping[Key, bool]:
        chosen = sa.select(
            PREDICTIONS.c.question, PREDICTIONS.c.setting, PREDICTIONS.c.failed
        ).where(
            PREDICTIONS.c.evaluation == self._evaluation,
            PREDICTIONS.c.question >= self._first,
            PREDICTIONS.c.question < self._last,
            PREDICTIONS.c.settled,
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(chosen)).all()
        return {
            (self._labels[setting], self._ids[question - self._first]): failed
            for question, setting, failed in rows
        }

    async def _add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        async with self._database.writing() as connection:
            await connection.execute(self._upsert, rows)

    def _row(self, prediction: Prediction) -> Mapping[str, Any]:
        position, question = self._questions[prediction.question_id]
        failed = prediction.failure is not None
        score = score_of(question, prediction, self._kind)
        return {
            "evaluation": self._evaluation,
            "question": position,
            "setting": self._settings[prediction.setting],
            "settled": not failed or self._attempts <= 1,
            "failed": failed,
            "attempts": 1,
            "score": score.values[main_measure_of(self._kind)],
            "retrievals": prediction.usage.retrievals,
            "record": _PREDICTION.line(prediction).decode(),
        }


def _upsert(database: Database, max_attempts: int) -> Executable:
    """The statement that inserts a row, or replaces one that is not settled."""
    new = database.insert(PREDICTIONS)
    given = new.excluded
    attempts = PREDICTIONS.c.attempts + 1
    return new.on_conflict_do_update(
        index_elements=["evaluation", "question", "setting"],
        set_={
            **{name: given[name] for name in ("failed", "score", "retrievals", "record")},
            "attempts": attempts,
            "settled": sa.or_(~given.failed, attempts >= max_attempts),
        },
        where=~PREDICTIONS.c.settled,
    )


@run_to_end
async def figures_of(database: Database, evaluation: int) -> tuple[Figures, ...]:
    """Return the figures of each setting that has a prediction, by its position."""
    columns = PREDICTIONS.c
    chosen = (
        sa.select(
            columns.setting,
            sa.func.count(),
            sa.func.sum(sa.case((columns.failed, 1), else_=0)),
            sa.func.avg(columns.score),
            sa.func.avg(columns.retrievals),
        )
        .where(columns.evaluation == evaluation, columns.settled)
        .group_by(columns.setting)
        .order_by(columns.setting)
    )
    async with database.reading() as connection:
        rows = (await connection.execute(chosen)).all()
    return tuple(
        Figures(setting, done, int(failed), float(score), float(retrievals))
        for setting, done, failed, score, retrievals in rows
    )


@run_to_end
async def page_of_predictions(
    database: Database,
    evaluation: int,
    *,
    size: int,
    after: Place | None = None,
    setting: int | None = None,
    question: int | None = None,
) -> tuple[tuple[Place, Prediction], ...]:
    """Return at most ``size`` predictions after a place, in the order of the plan.

    If the position of a setting or of a question is given, only its predictions are returned.
    """
    columns = PREDICTIONS.c
    chosen = sa.select(columns.question, columns.setting, columns.record).where(
        columns.evaluation == evaluation, columns.settled
    )
    if setting is not None:
        chosen = chosen.where(columns.setting == setting)
    if question is not None:
        chosen = chosen.where(columns.question == question)
    if after is not None:
        later = sa.and_(columns.question == after.question, columns.setting > after.setting)
        chosen = chosen.where(sa.or_(columns.question > after.question, later))
    chosen = chosen.order_by(columns.question, columns.setting).limit(size)
    async with database.reading() as connection:
        rows = (await connection.execute(chosen)).all()
    return tuple(
        (Place(at, setting_position), _PREDICTION.read(record.encode(), "a row of predictions"))
        for at, setting_position, record in rows
    )


async def every_prediction(database: Database, evaluation: int) -> AsyncIterator[Prediction]:
    """Yield all predictions in the order of the plan; at most a batch is held in memory."""
    after: Place | None = None
    while page := await page_of_predictions(database, evaluation, size=_BATCH, after=after):
        for _, prediction in page:
            yield prediction
        after = page[-1][0]
