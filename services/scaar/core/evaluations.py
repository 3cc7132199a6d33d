"""Evaluations of a service: requests, progress and predictions.

Times are RFC 3339 in UTC, empty until they are known.
"""

import enum
from collections.abc import AsyncIterator
from dataclasses import dataclass

from scaar.core.tenancy import DEFAULT_TENANT
from scaar.core.types import (
    ANSWER_TIMEOUT_S,
    Abstention,
    AnswerEnd,
    AnswerEvent,
    PolicyRequest,
    Usage,
)

MAX_QUESTIONS = 100_000
MAX_SETTINGS = 200


class EvaluationState(enum.StrEnum):
    """State of an evaluation."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self not in (EvaluationState.QUEUED, EvaluationState.RUNNING)


class ReportFormat(enum.StrEnum):
    """Format of a report."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class EvaluationQuestion:
    """A question with its accepted answers. The evaluator validates its fields."""

    id: str
    question: str
    answers: tuple[str, ...]
    entity: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    supports: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationGrid:
    """Values of each setting; every policy is evaluated with every combination."""

    theta: tuple[float, ...] = ()
    alpha: tuple[float, ...] = ()
    top_k: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A request for an evaluation of policies on a data set.

    An empty ``dataset`` selects the questions that are sent with the request. Policies that use the
    scorer are evaluated with each of the ``scorers``: ``none`` for the scorer itself, or the name
    of a control. Policies that retrieve are evaluated with each of several ``indexes``. Without
    ``indexes`` or ``seed``, the default of the data set applies. ``request_id`` is an idempotency
    key of the tenant. ``timeout_s`` is the time limit of one answer, in seconds. With
    ``theta_candidates``, each policy with a theta is evaluated at that many thresholds, placed at
    quantiles of its trigger score. With ``skip_unserved``, settings that the model cannot serve are
    left out. With ``cache_generations``, settings share generations, and times are not measured.
    ``style`` and ``tail_share`` are shares of the questions of the data set ``lab``, 0 to 1, and
    ``freedom`` is its share of free words.
    """

    policies: tuple[PolicyRequest, ...]
    dataset: str = ""
    grid: EvaluationGrid = EvaluationGrid()
    limit: int | None = None
    seed: int | None = None
    scorers: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    timeout_s: float = ANSWER_TIMEOUT_S
    request_id: str = ""
    theta_candidates: int | None = None
    skip_unserved: bool = False
    cache_generations: bool = False
    style: float | None = None
    tail_share: float | None = None
    freedom: float | None = None
    tenant: str = DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """The error of a prediction or an evaluation: its reason, UPPER_SNAKE, and its message."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class LeftOutSetting:
    """The label of a setting that the model cannot serve, and what the model lacks."""

    setting: str
    missing: str


@dataclass(frozen=True, slots=True)
class FirstPassProgress:
    """The number of predictions of the pass that places thresholds, and of stored ones."""

    total: int
    done: int


@dataclass(frozen=True, slots=True)
class EvaluationDescription:
    """An evaluation and its progress. ``settings`` are the labels of its settings, in order.

    ``total`` is the number of predictions of a complete evaluation, ``done`` the number of stored
    ones, and ``failed`` the number of stored ones without an answer. An evaluation that places
    thresholds is queued until its first pass has ended.
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
    total: int
    started: str = ""
    ended: str = ""
    done: int = 0
    failed: int = 0
    error: EvaluationError | None = None
    left_out: tuple[LeftOutSetting, ...] = ()
    first_pass: FirstPassProgress | None = None


@dataclass(frozen=True, slots=True)
class SettingFigures:
    """Figures of a setting so far; means are over the stored predictions."""

    setting: str
    done: int
    failed: int
    measure: str
    mean: float | None = None
    retrievals: float | None = None


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """Progress of an evaluation, and the figures of its settings so far."""

    evaluation: EvaluationDescription
    rate_per_s: float
    remaining_s: float | None
    figures: tuple[SettingFigures, ...]


@dataclass(frozen=True, slots=True)
class EvaluationPrediction:
    """The prediction of a setting for a question, and its score by each measure.

    The main measure comes first in ``scores``. ``question`` and the stored ``events`` of the answer
    are set if details were requested.
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
    abstained: Abstention | None = None


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """A page of evaluations, newest first, and the token of the next page."""

    evaluations: tuple[EvaluationDescription, ...]
    next_page_token: str = ""


@dataclass(frozen=True, slots=True)
class PredictionPage:
    """A page of predictions in the order of the plan, and the token of the next page."""

    predictions: tuple[EvaluationPrediction, ...]
    next_page_token: str = ""


async def no_questions() -> AsyncIterator[EvaluationQuestion]:
    """Yield no questions: the request names a data set."""
    nothing: tuple[EvaluationQuestion, ...] = ()
    for each in nothing:
        yield each
