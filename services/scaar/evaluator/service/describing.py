"""Evaluations as the service tells of them."""

from datetime import UTC, datetime

from scaar.core.errors import WrongState
from scaar.core.evaluations import (
    EvaluationDescription,
    SettingFigures,
)
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.scoring.scores import main_measure_of
from scaar.evaluator.store.database.evaluations import StoredEvaluation
from scaar.evaluator.store.database.predictions import Figures


def description_of(stored: StoredEvaluation) -> EvaluationDescription:
    """The evaluation as it is told of."""
    asked = stored.asked
    return EvaluationDescription(
        id=stored.id,
        tenant=stored.tenant,
        request_id=stored.request_id,
        state=stored.state,
        dataset=asked.dataset.name,
        questions=asked.dataset.questions,
        settings=tuple(each.label for each in asked.settings),
        seed=asked.dataset.seed,
        limit=asked.dataset.limit,
        index=asked.index,
        timeout_s=asked.timeout_s,
        created=time_of(stored.created_at),
        wanted=stored.wanted,
        started=time_of(stored.started_at),
        ended=time_of(stored.ended_at),
        done=stored.done,
        failed=stored.failed,
        error=stored.error,
    )


def time_of(seconds: float | None) -> str:
    """Seconds since 1970 as RFC 3339 in UTC; empty where there are none."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def figures_told(
    stored: StoredEvaluation, figures: tuple[Figures, ...]
) -> tuple[SettingFigures, ...]:
    """What each setting has come to so far, those without a prediction too."""
    measure = main_measure_of(kind_of(stored.asked.dataset.name))
    by_setting = {each.setting: each for each in figures}
    told = []
    for at, setting in enumerate(stored.asked.settings):
        found = by_setting.get(at)
        if found is None:
            told.append(SettingFigures(setting.label, 0, 0, measure))
        else:
            counts = (found.done, found.failed, measure, found.score, found.retrievals)
            told.append(SettingFigures(setting.label, *counts))
    return tuple(told)


def not_in(stored: StoredEvaluation, what: str) -> WrongState:
    """The error that an evaluation has not the state that something needs."""
    so_far = f"{stored.done} of {stored.wanted} predictions"
    text = f"evaluation {stored.id} is {stored.state.value}, with {so_far}: {what}"
    return WrongState(
        text,
        evaluation_id=stored.id,
        state=stored.state.value,
        done=str(stored.done),
        wanted=str(stored.wanted),
    )
