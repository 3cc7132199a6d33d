"""Records of answers: what is kept of an answer's decisions, and the queries for them.

Times are RFC 3339 in UTC.
"""

import enum
from dataclasses import dataclass, fields

from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    EffectivePolicy,
    PolicyOverrides,
    Query,
    QueryWord,
    RequestKind,
    SentenceJudged,
)

MAX_COMMENT_CHARACTERS = 2_000
MAX_TEXT_CHARACTERS = 200
MAX_IDS = 1_000
MIN_PERIOD_S, DAY_S, MAX_PERIOD_S = 60, 86_400, 31_622_400
MAX_GROUPS = 10_000

NO_OVERRIDES = PolicyOverrides()
"""No setting in place of those of a policy."""


class RecordContent(enum.StrEnum):
    """The texts that a record has."""

    NONE = "none"
    """No text: numbers, ids and times only."""
    HASHED = "hashed"
    """A keyed digest in place of every text."""
    FULL = "full"


class Verdict(enum.StrEnum):
    """The verdict of a user on an answer."""

    CORRECT = "correct"
    WRONG = "wrong"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict on an answer, with the comment of the user."""

    verdict: Verdict
    comment: str = ""
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """The columns of a record, by which records are listed.

    ``failure`` is the reason of the error, or ``CANCELLED``; empty if the answer finished.
    ``mean_probability`` is the mean of P' over the words of the judged drafts; None without a known
    probability.
    """

    id: str
    request_id: str
    tenant: str
    created_at: str
    content: RecordContent
    policy: str
    artefact_digest: str = ""
    model: str = ""
    index: str = ""
    question: str = ""
    answer: str = ""
    failure: str = ""
    judged_drafts: int = 0
    uncertain_drafts: int = 0
    sentences: int = 0
    degraded_sentences: int = 0
    retrievals: int = 0
    generated_tokens: int = 0
    prompt_tokens: int = 0
    latency_ms: float = 0.0
    mean_probability: float | None = None
    abstained: bool = False
    trace_id: str = ""
    feedback: Feedback | None = None
    kind: RequestKind = RequestKind.QUESTION


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """The record of an answer: its request, and its events with their times.

    ``event_ms`` are milliseconds from the request. ``error`` is the message of the error. Large
    records lack ``left_out``: the ``tokens``, or the texts of ``passages``.
    """

    summary: RecordSummary
    request: AnswerRequest
    events: tuple[AnswerEvent, ...] = ()
    event_ms: tuple[float, ...] = ()
    error: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Filters of records; a record matches all that are set."""

    tenant: str = ""
    policy: str = ""
    index: str = ""
    request_id: str = ""
    since: str = ""
    until: str = ""
    retrieved: bool | None = None
    degraded: bool | None = None
    failed: bool | None = None
    has_feedback: bool | None = None
    verdict: Verdict | None = None
    text: str = ""
    kind: RequestKind | None = None

    @property
    def is_empty(self) -> bool:
        """Whether every record matches."""
        return all(getattr(self, each.name) in ("", None) for each in fields(self))


EVERY_RECORD = RecordFilter()
"""Matches every record."""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """A page of records, newest first; an empty token on the last page."""

    records: tuple[RecordSummary, ...]
    next_page_token: str = ""


@dataclass(frozen=True, slots=True)
class ExplainRecordRequest:
    """A request to judge the drafts of a record under other settings.

    An empty ``policy`` stands for that of the record, with its settings.
    """

    id: str
    policy: str = ""
    overrides: PolicyOverrides = NO_OVERRIDES


@dataclass(frozen=True, slots=True)
class ExplainedDraft:
    """A recorded draft judged under other settings, and whether the answer retrieved for it.

    ``query`` is what the policy would search for, and ``query_words`` are the words of ``judged``
    for it. None if the policy would not retrieve, if its query is not of the words of the draft,
    and if the record lacks what the query needs. ``query_cut_off`` is the largest rank by
    contribution in the query; None unless the formulation ranks the words.
    """

    judged: SentenceJudged
    recorded_retrieving: bool
    query: Query | None = None
    query_words: tuple[QueryWord, ...] = ()
    query_cut_off: int | None = None


@dataclass(frozen=True, slots=True)
class RecordExplanation:
    """The judgements of a record's drafts under other settings.

    ``first_difference`` is the number of the first sentence whose decision differs. The drafts
    after it would have been other ones.
    """

    policy: EffectivePolicy
    drafts: tuple[ExplainedDraft, ...]
    first_difference: int | None
    recorded_retrievals: int
    retrievals: int


@dataclass(frozen=True, slots=True)
class RecordMoments:
    """Sums over the answers of a group of squares and products of their columns."""

    retrievals_squared: int = 0
    judged_squared: int = 0
    uncertain_squared: int = 0
    judged_uncertain: int = 0
    sentences_squared: int = 0
    degraded_squared: int = 0
    sentences_degraded: int = 0
    with_probability: int = 0
    """Number of answers with a mean probability."""
    probability_squared: float = 0.0
    latency_squared: float = 0.0


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """Counts and means of the records of a period, a tenant and a policy.

    The variances of means and shares follow from ``moments``; None if the service has none.
    """

    start: str
    tenant: str
    policy: str
    artefact_digest: str
    answers: int
    failed: int = 0
    abstained: int = 0
    retrieved: int = 0
    retrievals: int = 0
    generated_tokens: int = 0
    prompt_tokens: int = 0
    judged_drafts: int = 0
    uncertain_drafts: int = 0
    sentences: int = 0
    degraded_sentences: int = 0
    mean_probability: float | None = None
    mean_latency_ms: float = 0.0
    correct: int = 0
    wrong: int = 0
    partial: int = 0
    moments: RecordMoments | None = None
