"""What an evaluation is made of: questions, settings of policies, predictions.

Every prediction is of one question under one setting; together they are all that measures,
statistics and reports are computed from, so that none of these asks a model again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from scaar.core.controls import Control
from scaar.core.types import (
    AnswerEnd,
    Degradation,
    GateJudged,
    JudgedWord,
    PolicyRequest,
    Query,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a data set, and what counts as its answer.

    ``answers`` are the accepted answers (aliases), the official one first. ``entity`` is what the
    question is about: halves and bootstrap clusters keep the questions of an entity together; the
    id stands in where a data set names none. ``labels`` are what results are broken down by
    (``kind``, ``popularity``, ...). ``supports`` are the ids or titles of the passages that hold
    the answer, where the data set says so; ``choices`` the options of a multiple choice.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    entity: str
    labels: tuple[tuple[str, str], ...] = ()
    supports: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """A policy with the settings that it is evaluated at; ``label`` is unique in an evaluation.

    ``scorer`` is the control of the scorer that it is asked with; None is the scorer itself.
    ``index`` is where it retrieves from; None is the index of the evaluation.
    """

    label: str
    policy: PolicyRequest
    scorer: Control | None = None
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one sentence, in the order of the loop.

    ``words`` and ``score`` are those of the draft where it was judged, ``query`` and
    ``passage_ids`` what was looked up; ``text`` is the sentence that stands.
    """

    text: str
    draft: str = ""
    words: tuple[JudgedWord, ...] = ()
    score: float | None = None
    """The threshold at which the draft is on the edge of being looked up for."""
    trigger: int | None = None
    query: Query | None = None
    passage_ids: tuple[str, ...] = ()
    degraded: Degradation | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a question has no answer: the error's reason, UPPER_SNAKE, and its message."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a setting answered to a question, what it cost, and how it came about.

    One that failed has no answer, an empty bill, and scores 0.
    """

    setting: str
    question_id: str
    answer: str
    text: str
    usage: Usage
    end: AnswerEnd | None = None
    decisions: tuple[Decision, ...] = ()
    failure: Failure | None = None
    gate: GateJudged | None = None
    """What the policy's gate decided, where it has one."""


@dataclass(frozen=True, slots=True)
class Score:
    """A prediction as it was measured: each measure's value by name, and the bill."""

    setting: str
    question_id: str
    values: Mapping[str, float]
    usage: Usage
    failed: bool = False
