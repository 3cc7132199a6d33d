"""The predictions of an evaluation, one row each, written once."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.sql import Executable

from scaar.evaluator.datasets.kind import Kind
from scaar.evaluator.planning.work import Key
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.evaluator.scoring.scores import main_measure_of, score_of
from scaar.evaluator.store.database.opening import Database, to_its_end
from scaar.evaluator.store.database.tables import PREDICTIONS
from scaar.evaluator.store.record_json import RecordJson

_PREDICTION = RecordJson(Prediction)
_GATHER_S = 0.25
"""Each transaction costs the service and the database some milliseconds, of whatever size."""
_AT_ONCE = 500
"""Predictions that are read at a time where all of them are."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a prediction stands in the plan: its question's position, then its setting's."""

    question: int
    setting: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What a setting, by its position, has come to: counts, and means of what is there."""

    setting: int
    done: int
    failed: int
    score: float
    retrievals: float


class ShardPredictions:
    """A :class:`~scaar.evaluator.store.port.PredictionStore` of some questions of an evaluation.

    ``questions`` stand from the position ``first``. A failure is the last word after so many
    ``attempts``; until then it is as if the question had not been asked.
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
        kind: Kind,
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
        self._kept = _kept(database, attempts)

    async def known(self) -> Mapping[Key, bool]:
        return await self._database.finished(self._known())

    async def add(self, predictions: Sequence[Prediction]) -> None:
        rows = map(self._row, predictions)
        # In one order for all: of two who keep the same ones, one waits for the other.
        in_order = sorted(rows, key=itemgetter("question", "setting"))
        await self._database.finished(self._add(in_order))

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
            await connection.execute(self._kept, rows)

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


def _kept(database: Database, most_attempts: int) -> Executable:
    """What keeps a row, of which it is given every column, unless one is settled."""
    new = database.insert(PREDICTIONS)
    given = new.excluded
    attempts = PREDICTIONS.c.attempts + 1
    return new.on_conflict_do_update(
        index_elements=["evaluation", "question", "setting"],
        set_={
            **{name: given[name] for name in ("failed", "score", "retrievals", "record")},
            "attempts": attempts,
            "settled": sa.or_(~given.failed, attempts >= most_attempts),
        },
        where=~PREDICTIONS.c.settled,
    )


@to_its_end
async def figures_of(database: Database, evaluation: int) -> tuple[Figures, ...]:
    """What each setting has come to that has a prediction, by its position."""
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


@to_its_end
async def page_of_predictions(
    database: Database,
    evaluation: int,
    *,
    size: int,
    after: Place | None = None,
    setting: int | None = None,
    question: int | None = None,
) -> tuple[tuple[Place, Prediction], ...]:
    """At most so many predictions in the order of the plan, behind a place.

    Of one setting and of one question, where their positions are given.
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
        behind = sa.and_(columns.question == after.question, columns.setting > after.setting)
        chosen = chosen.where(sa.or_(columns.question > after.question, behind))
    chosen = chosen.order_by(columns.question, columns.setting).limit(size)
    async with database.reading() as connection:
        rows = (await connection.execute(chosen)).all()
    return tuple(
        (Place(at, under), _PREDICTION.read(record.encode(), "a row of predictions"))
        for at, under, record in rows
    )


async def every_prediction(database: Database, evaluation: int) -> AsyncIterator[Prediction]:
    """All predictions that are there, in the order of the plan; few of them in memory at a time."""
    after: Place | None = None
    while page := await page_of_predictions(database, evaluation, size=_AT_ONCE, after=after):
        for _, prediction in page:
            yield prediction
        after = page[-1][0]
