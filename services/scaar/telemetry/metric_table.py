"""Every metric that scaar's services have. One that is not in this table does not exist.

The names, the labels and the meaning in docs/telemetry.md are made from it; boards and alerts are
held to it by a test.
"""

import enum
from dataclasses import dataclass

_SECONDS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
)
_COUNTS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0)
_PAIRS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0)


class Kind(enum.StrEnum):
    """What Prometheus calls it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its name as Prometheus has it, who has it, and what it says."""

    name: str
    kind: Kind
    of: str
    """The service that has it, or ``every service``."""
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """The upper bounds of a histogram's buckets, without the last, which takes all."""

    @property
    def series(self) -> tuple[str, ...]:
        """The names by which its samples are asked for."""
        if self.kind is not Kind.HISTOGRAM:
            return (self.name,)
        return tuple(f"{self.name}_{part}" for part in ("bucket", "sum", "count"))


_SHARDS = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1800.0)
_EVERY, _ORCHESTRATOR, _SCORER = "every service", "orchestrator", "scorer"
_EVALUATOR, _ASKING = "evaluator", "worker, and an evaluator that asks itself"
_METHOD = ("service", "method")
_DEPENDENCY = ("dependency", "target")

SERVICE_INFO = Metric(
    "scaar_service_info",
    Kind.GAUGE,
    _EVERY,
    "1, with the service as the command line names it and its version.",
    labels=("service", "version"),
)
RPC_REQUESTS = Metric(
    "scaar_rpc_requests_total",
    Kind.COUNTER,
    _EVERY,
    "Calls that have ended, by the name of their gRPC status.",
    labels=(*_METHOD, "code"),
)
RPC_DURATION = Metric(
    "scaar_rpc_duration_seconds",
    Kind.HISTOGRAM,
    _EVERY,
    "How long calls took, streams to their end, refused ones among them.",
    labels=_METHOD,
    buckets=_SECONDS,
)
RPC_UNDER_WAY = Metric(
    "scaar_rpc_under_way",
    Kind.GAUGE,
    _EVERY,
    "Calls under way, streams as long as they live.",
    labels=_METHOD,
)
BREAKER_STATE = Metric(
    "scaar_breaker_state",
    Kind.GAUGE,
    _EVERY,
    "Whether what the process depends on is asked: 0 it is, 1 one call at a time on trial, 2 it is "
    "not, for it failed. There is one for each service or server that is called.",
    labels=_DEPENDENCY,
)
BREAKER_REFUSALS = Metric(
    "scaar_breaker_refusals_total",
    Kind.COUNTER,
    _EVERY,
    "Calls that were not made because what they would have asked failed of late.",
    labels=_DEPENDENCY,
)
ANSWERS = Metric(
    "scaar_answers_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Answers, by the policy and by why they ended: answer_phrase, end_of_sequence, max_sentences "
    "or max_tokens; cancelled where the client left; else the reason of the error, in lower case. "
    "The policy is none where it is no policy's name.",
    labels=("policy", "end"),
)
ANSWER_DURATION = Metric(
    "scaar_answer_duration_seconds",
    Kind.HISTOGRAM,
    _ORCHESTRATOR,
    "How long finished answers took.",
    labels=("policy",),
    buckets=_SECONDS,
)
ANSWER_PARTS = Metric(
    "scaar_answer_waiting_seconds_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "What finished answers spent waiting, by the part: generation, scoring or retrieval. They may "
    "overlap.",
    labels=("part",),
)
ANSWER_RETRIEVALS = Metric(
    "scaar_answer_retrievals",
    Kind.HISTOGRAM,
    _ORCHESTRATOR,
    "Retrievals of finished answers.",
    labels=("policy",),
    buckets=_COUNTS,
)
ANSWER_LIMIT = Metric(
    "scaar_answer_limit",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Answers that may be under way at a time, as learned from what the generator declares and "
    "refuses.",
)
ANSWERS_UNDER_WAY = Metric(
    "scaar_answers_under_way",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Admitted answers that have not ended.",
)
ANSWERS_QUEUED = Metric(
    "scaar_answers_queued",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Answers that wait to be admitted.",
)
ANSWERS_SHED = Metric(
    "scaar_answers_shed_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Answers refused before their first model call, by the reason: queue_full; too_late, no place "
    "within the deadline or the maximum queue time; back_end, a service refused the first call.",
    labels=("reason",),
)
CALLS_REPEATED = Metric(
    "scaar_calls_repeated_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Calls of admitted answers that a service refused for overload, and that were repeated after a "
    "pause.",
)
SENTENCES_JUDGED = Metric(
    "scaar_sentences_judged_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Drafted sentences whose words were held against their thresholds.",
    labels=("policy",),
)
TRIGGERS = Metric(
    "scaar_triggers_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Those of them that were uncertain.",
    labels=("policy",),
)
SENTENCES_DEGRADED = Metric(
    "scaar_sentences_degraded_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Sentences that stand as the model wrote them because something failed.",
    labels=("policy",),
)
TOKENS = Metric(
    "scaar_tokens_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Tokens billed to finished answers: generated, those of dropped drafts too, and prompt.",
    labels=("kind",),
)
SCORER_BATCH_PAIRS = Metric(
    "scaar_scorer_batch_pairs",
    Kind.HISTOGRAM,
    _SCORER,
    "Pairs of texts handed to the model together.",
    buckets=_PAIRS,
)
SCORER_QUEUE = Metric(
    "scaar_scorer_queue_seconds",
    Kind.HISTOGRAM,
    _SCORER,
    "How long pairs waited until the first of their call was handed to the model; with Triton, "
    "until each request was sent.",
    buckets=_SECONDS,
)
SCORER_CACHE_HITS = Metric(
    "scaar_scorer_cache_hits_total",
    Kind.COUNTER,
    _SCORER,
    "Sentences whose contributions were remembered.",
)
SCORER_CACHE_JOINED = Metric(
    "scaar_scorer_cache_joined_total",
    Kind.COUNTER,
    _SCORER,
    "Sentences that another call was having computed already.",
)
SCORER_CACHE_MISSES = Metric(
    "scaar_scorer_cache_misses_total",
    Kind.COUNTER,
    _SCORER,
    "Sentences that had to be computed.",
)
EVALUATIONS = Metric(
    "scaar_evaluations",
    Kind.GAUGE,
    _EVALUATOR,
    "Evaluations that are kept, of all tenants, by their state: queued, running, succeeded, failed "
    "or cancelled. Evaluators of one database all say the same: take the maximum.",
    labels=("state",),
)
OLDEST_QUEUED = Metric(
    "scaar_evaluations_oldest_queued_seconds",
    Kind.GAUGE,
    _EVALUATOR,
    "How long the evaluation has waited to be begun that waits longest; 0 where none does.",
)
SHARDS = Metric(
    "scaar_shards",
    Kind.GAUGE,
    _EVALUATOR,
    "Shards of running evaluations that are not finished: waiting for somebody to ask them, or "
    "held. What workers are scaled by.",
    labels=("state",),
)
SHARDS_TAKEN = Metric(
    "scaar_shards_taken_total",
    Kind.COUNTER,
    _ASKING,
    "Shards that a process began to ask.",
)
SHARDS_ENDED = Metric(
    "scaar_shards_ended_total",
    Kind.COUNTER,
    _ASKING,
    "Shards that it asks no more, by how that came: finished; given_back, unfinished, when it was "
    "told to stop or the shard's time was over; dropped, when its evaluation had ended, by its "
    "last answer or cancelled, or the lease was over; refused, when the evaluation failed by it; "
    "database_away; fault, by an error of scaar's own.",
    labels=("end",),
)
SHARD_DURATION = Metric(
    "scaar_shard_duration_seconds",
    Kind.HISTOGRAM,
    _ASKING,
    "How long shards were held, however that ended.",
    buckets=_SHARDS,
)
QUESTIONS = Metric(
    "scaar_questions_total",
    Kind.COUNTER,
    _ASKING,
    "Questions asked under a setting, by the outcome: answered, or the reason of the error, in "
    "lower case. One that is asked again counts again.",
    labels=("outcome",),
)
QUESTIONS_HELD_BACK = Metric(
    "scaar_questions_held_back_seconds_total",
    Kind.COUNTER,
    _ASKING,
    "What questions waited for an orchestrator, by the reason: overloaded, for as long as it said, "
    "or backend_unavailable. By the second it is how many wait at a time.",
    labels=("reason",),
)

METRICS = (
    SERVICE_INFO,
    RPC_REQUESTS,
    RPC_DURATION,
    RPC_UNDER_WAY,
    BREAKER_STATE,
    BREAKER_REFUSALS,
    ANSWERS,
    ANSWER_DURATION,
    ANSWER_PARTS,
    ANSWER_RETRIEVALS,
    ANSWER_LIMIT,
    ANSWERS_UNDER_WAY,
    ANSWERS_QUEUED,
    ANSWERS_SHED,
    CALLS_REPEATED,
    SENTENCES_JUDGED,
    TRIGGERS,
    SENTENCES_DEGRADED,
    TOKENS,
    SCORER_BATCH_PAIRS,
    SCORER_QUEUE,
    SCORER_CACHE_HITS,
    SCORER_CACHE_JOINED,
    SCORER_CACHE_MISSES,
    EVALUATIONS,
    OLDEST_QUEUED,
    SHARDS,
    SHARDS_TAKEN,
    SHARDS_ENDED,
    SHARD_DURATION,
    QUESTIONS,
    QUESTIONS_HELD_BACK,
)
"""The table."""
