"""Evaluations as the service tells of them: what is asked for, how it gets on, what was answered.

Times are RFC 3339 in UTC, and empty where they have not come.
"""

import enum
from collections.abc import AsyncIterator
from dataclasses import dataclass

from scaar.core.types import AnswerEnd, AnswerEvent, BudgetLimits, PolicyRequest, Usage

DEFAULT_TENANT = "default"
"""For whom an evaluation is where nobody says."""
PAGE_SIZE, MAX_PAGE_SIZE = 100, 1_000
MAX_QUESTIONS = 100_000
MAX_SETTINGS = 200


class EvaluationState(enum.StrEnum):
    """How far an evaluation is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing of it will change any more."""
        return self not in (EvaluationState.QUEUED, EvaluationState.RUNNING)


class ReportForm(enum.StrEnum):
    """What a report is written as."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class EvaluationQuestion:
    """A question that is sent with its answers; what it holds is checked by the evaluator."""

    id: str
    question: str
    answers: tuple[str, ...]
    entity: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    supports: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationGrid:
    """Values of settings, each with any number of them."""

    theta: tuple[float, ...] = ()
    alpha: tuple[float, ...] = ()
    top_k: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """An evaluation as it is asked for; an empty ``dataset`` takes the questions that are sent.

    ``index`` None is that of the data set, ``seed`` None the data set's own. Asked again with the
    same ``request_id`` for the same tenant, it is the same evaluation.
    """

    policies: tuple[PolicyRequest, ...]
    dataset: str = ""
    grid: EvaluationGrid = EvaluationGrid()
    limit: int | None = None
    seed: int | None = None
    index: str | None = None
    timeout_s: float = BudgetLimits().timeout_s
    request_id: str = ""
    tenant: str = DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """Why there is no answer, or no end: the error's reason, UPPER_SNAKE, and its message."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class EvaluationDescription:
    """An evaluation and how far it is; ``settings`` are the labels of its settings, in order.

    ``done`` of the ``wanted`` predictions are there, ``failed`` of these have no answer.
    """

    id: str
    tenant: str
    request_id: str
    state: EvaluationState
    dataset: str
    questions: int
    settings: tuple[str, ...]
    seed: int
    limit: int | None
    index: str
    timeout_s: float
    created: str
    wanted: int
    started: str = ""
    ended: str = ""
    done: int = 0
    failed: int = 0
    error: EvaluationError | None = None


@dataclass(frozen=True, slots=True)
class SettingFigures:
    """What a setting has come to so far: the means are over the predictions that are there."""

    setting: str
    done: int
    failed: int
    measure: str
    mean: float | None = None
    retrievals: float | None = None


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How an evaluation gets on, and what its settings have come to so far."""

    evaluation: EvaluationDescription
    rate_per_s: float
    time_left_s: float | None
    figures: tuple[SettingFigures, ...]


@dataclass(frozen=True, slots=True)
class EvaluationPrediction:
    """What was answered to a question under a setting, and what it is worth by each measure.

    ``scores`` begin with the main measure. ``question`` and the ``events`` of the answer, as far as
    they are kept, are there where details were asked for.
    """

    setting: str
    question_id: str
    answer: str
    text: str
    usage: Usage
    end: AnswerEnd | None = None
    failure: EvaluationError | None = None
    scores: tuple[tuple[str, float], ...] = ()
    question: EvaluationQuestion | None = None
    events: tuple[AnswerEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """Some evaluations, the newest first, and what to ask the next page with."""

    evaluations: tuple[EvaluationDescription, ...]
    next_page_token: str = ""


@dataclass(frozen=True, slots=True)
class PredictionPage:
    """Some predictions in the order of the plan, and what to ask the next page with."""

    predictions: tuple[EvaluationPrediction, ...]
    next_page_token: str = ""


async def no_questions() -> AsyncIterator[EvaluationQuestion]:
    """What is sent beside the name of a data set."""
    nothing: tuple[EvaluationQuestion, ...] = ()
    for each in nothing:
        yield each
