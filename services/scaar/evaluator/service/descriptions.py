"""Descriptions of evaluations for clients."""

from collections import deque
from datetime import UTC, datetime

from scaar.core.errors import WrongState
from scaar.core.evaluations import (
    EvaluationDescription,
    LeftOutSetting,
    SettingFigures,
)
from scaar.core.plurals import counted
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
    so_far = f"{stored.done} of {counted(stored.total, 'prediction')}"
    text = f"evaluation {stored.id} is {stored.state.value}, with {so_far}: {requirement}"
    return WrongState(
        text,
        evaluation_id=stored.id,
        state=stored.state.value,
        done=str(stored.done),
        total=str(stored.total),
    )


WINDOW_S = 60.0
"""Seconds over which the rate is measured."""


class ProgressRate:
    """The rate of a rising count in the last :data:`WINDOW_S` seconds."""

    def __init__(self, *, started: float, done: int) -> None:
        """Start with a count of ``done`` at the time ``started``."""
        self._seen: deque[tuple[float, int]] = deque([(started, done)])

    def record(self, now: float, done: int) -> None:
        """Record the current count."""
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_S:
            self._seen.popleft()

    def rate_per_s(self) -> float:
        """Return the rate per second."""
        (since, before), (now, done) = self._seen[0], self._seen[-1]
        return max(0.0, (done - before) / (now - since)) if now > since else 0.0

    def remaining_s(self, total: int) -> float | None:
        """Return the seconds until ``total`` at the current rate; None if the rate is 0."""
        rate, remaining = self.rate_per_s(), total - self._seen[-1][1]
        if remaining <= 0:
            return 0.0
        return remaining / rate if rate > 0 else None
