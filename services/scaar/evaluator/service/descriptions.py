"""Descriptions of evaluations for clients."""

from datetime import UTC, datetime

from scaar.core.errors import WrongState
from scaar.core.evaluations import (
    EvaluationDescription,
    LeftOutSetting,
    SettingFigures,
)
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.scoring.scores import main_measure_of
from scaar.evaluator.store.database.evaluations import StoredEvaluation
from scaar.evaluator.store.database.predictions import Figures


def description_of(stored: StoredEvaluation) -> EvaluationDescription:
    """Return the description of an evaluation."""
    spec = stored.spec
    return EvaluationDescription(
        id=stored.id,
        tenant=stored.tenant,
        request_id=stored.request_id,
        state=stored.state,
        dataset=spec.dataset.name,
        questions=spec.dataset.questions,
        settings=tuple(each.label for each in stored.settings),
        seed=spec.dataset.seed,
        limit=spec.dataset.limit,
        index=spec.index,
        timeout_s=spec.timeout_s,
        created=rfc3339(stored.created_at),
        total=stored.total,
        started=rfc3339(stored.started_at),
        ended=rfc3339(stored.ended_at),
        done=stored.done,
        failed=stored.failed,
        error=stored.error,
        left_out=tuple(
            LeftOutSetting(each.setting.label, each.missing)
            for each in (stored.planned.left_out if stored.planned else ())
        ),
        first_pass=stored.first_pass,
    )


def rfc3339(seconds: float | None) -> str:
    """Return seconds since 1970 as RFC 3339 in UTC; empty for None."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def describe_figures(
    stored: StoredEvaluation, figures: tuple[Figures, ...]
) -> tuple[SettingFigures, ...]:
    """Return the figures of every setting so far, also of settings without a prediction."""
    measure = main_measure_of(kind_of(stored.spec.dataset.name))
    by_setting = {each.setting: each for each in figures}
    described = []
    for at, setting in enumerate(stored.settings):
        found = by_setting.get(at)
        if found is None:
            described.append(SettingFigures(setting.label, 0, 0, measure))
        else:
            counts = (found.done, found.failed, measure, found.score, found.retrievals)
            described.append(SettingFigures(setting.label, *counts))
    return tuple(described)


def wrong_state(stored: StoredEvaluation, requirement: str) -> WrongState:
    """Return the error that an evaluation lacks the required state."""
    so_far = f"{stored.done} of {stored.total} predictions"
    text = f"evaluation {stored.id} is {stored.state.value}, with {so_far}: {requirement}"
    return WrongState(
        text,
        evaluation_id=stored.id,
        state=stored.state.value,
        done=str(stored.done),
        total=str(stored.total),
    )
