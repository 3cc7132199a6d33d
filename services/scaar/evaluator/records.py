"""The records of an evaluation: questions, settings of policies, predictions.

Every prediction is for one question at one setting. Measures, statistics and reports are computed
from predictions alone, without another call of a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scaar.core.controls import Control
from scaar.core.types import (
    Abstention,
    AnswerEnd,
    CandidatesScored,
    Degradation,
    GateJudged,
    JudgedWord,
    PolicyRequest,
    Query,
    RetrievalWeighed,
    SearchRequested,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a data set with its accepted answers.

    ``answers`` are the accepted answers (aliases), the official one first. ``entity`` is the
    subject of the question: splits and bootstrap clusters keep the questions of an entity together.
    If the data set names no entity, it is the id. Reports break results down by ``labels``
    (``kind``, ``popularity``, ...). ``supports`` are the ids or titles of the passages that contain
    the answer, if the data set names them; ``choices`` are the options of a multiple choice.
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
    """A policy with the overrides that it is evaluated at; ``label`` is unique in an evaluation.

    ``scorer`` is the scorer control; None is the scorer itself. ``index`` is the index to retrieve
    from; None is the index of the evaluation.
    """

    label: str
    policy: PolicyRequest
    scorer: Control | None = None
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The decisions about one sentence, in the order of the loop.

    ``words``, ``score`` and ``signals`` belong to the draft, if it was judged; ``query`` and
    ``passage_ids`` to the retrieval, if there was one. ``text`` is the accepted sentence, and
    ``supporting_passage_ids`` are the passages that support it.
    """

    text: str
    draft: str = ""
    words: tuple[JudgedWord, ...] = ()
    score: float | None = None
    """The threshold at which the draft would just trigger a retrieval."""
    trigger: int | None = None
    query: Query | None = None
    passage_ids: tuple[str, ...] = ()
    excluded_ids: tuple[str, ...] = ()
    """The passages that the retrieval excluded because the answer had read them."""
    degraded: Degradation | None = None
    draft_right: bool | None = None
    """Whether the fact of the draft is true; None if unknown, or if the draft states none."""
    right: bool | None = None
    """The same of the accepted sentence."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The signals of the draft by name (:mod:`scaar.core.signals`)."""
    request: SearchRequested | None = None
    """The search that the model requested, if this decision is about one."""
    kept_share: float | None = None
    """Share of the sentences of the passages that a sentence filter kept; None without one."""
    weighed: RetrievalWeighed | None = None
    """The decision whether to retrieve, by reflection tokens; None under other policies."""
    scored: CandidatesScored | None = None
    """The candidates of the sentence, if it was chosen from several."""
    without_contributions: bool = False
    """Whether the draft was judged without contributions."""
    supporting_passage_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The error of a failed prediction: its reason in UPPER_SNAKE case, and its message."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer to a question at a setting, with its usage and its decisions.

    A failed prediction has no answer and no usage, and scores 0.
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
    """The judgement of the policy's gate, if it has one."""
    rounds: tuple[Decision, ...] = ()
    """Decisions before those about the accepted sentences: the earlier rounds of the answer, each
    with its draft and its retrieval, or the searches that the model requested."""
    abstained: Abstention | None = None
    """Why the answer should not be given, according to the gate; None if it should."""


@dataclass(frozen=True, slots=True)
class Score:
    """The measures of a prediction by name, and its usage."""

    setting: str
    question_id: str
    values: Mapping[str, float]
    usage: Usage
    failed: bool = False
