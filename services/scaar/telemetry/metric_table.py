"""All metrics of scaar's services.

The table in docs/telemetry.md is generated from this module. A test checks that dashboards and
alerts use these metrics only.
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
    """Prometheus type of a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """Definition of a metric."""

    name: str
    kind: Kind
    of: str
    """Service that exports the metric, or ``every service``."""
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets, without the final ``+Inf``."""

    @property
    def series(self) -> tuple[str, ...]:
        """Names of the time series, as in queries."""
        if self.kind is not Kind.HISTOGRAM:
            return (self.name,)
        return tuple(f"{self.name}_{part}" for part in ("bucket", "sum", "count"))


_SHARDS = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1800.0)
_EVERY, _ORCHESTRATOR, _SCORER = "every service", "orchestrator", "scorer"
_EVALUATOR, _EXECUTING = "evaluator", "worker, or an evaluator that runs shards itself"
_HTTP = "gateway, console"
_METHOD = ("service", "method")
_DEPENDENCY = ("dependency", "target")

SERVICE_INFO = Metric(
    "scaar_service_info",
    Kind.GAUGE,
    _EVERY,
    "Always 1, labelled with the name of the service on the command line and its version.",
    labels=("service", "version"),
)
RPC_REQUESTS = Metric(
    "scaar_rpc_requests_total",
    Kind.COUNTER,
    _EVERY,
    "Finished calls, by gRPC status.",
    labels=(*_METHOD, "code"),
)
RPC_DURATION = Metric(
    "scaar_rpc_duration_seconds",
    Kind.HISTOGRAM,
    _EVERY,
    "Duration of calls, including rejected calls and whole streams.",
    labels=_METHOD,
    buckets=_SECONDS,
)
RPC_IN_PROGRESS = Metric(
    "scaar_rpc_in_progress",
    Kind.GAUGE,
    _EVERY,
    "Calls in progress, including open streams.",
    labels=_METHOD,
)
BREAKER_STATE = Metric(
    "scaar_breaker_state",
    Kind.GAUGE,
    _EVERY,
    "State of the circuit breaker of a service or server that the process calls: 0 closed, 1 half "
    "open (one probe call at a time), 2 open (calls fail immediately).",
    labels=_DEPENDENCY,
)
BREAKER_REFUSALS = Metric(
    "scaar_breaker_refusals_total",
    Kind.COUNTER,
    _EVERY,
    "Calls that failed immediately because the breaker of their dependency was open.",
    labels=_DEPENDENCY,
)
ANSWERS = Metric(
    "scaar_answers_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Answers, by policy and by end: answer_phrase, end_of_sequence, max_sentences or max_tokens; "
    "cancelled if the client cancelled the call; otherwise the reason of the error, in lower case. "
    "The policy is none if the request named an unknown policy.",
    labels=("policy", "end"),
)
ANSWER_DURATION = Metric(
    "scaar_answer_duration_seconds",
    Kind.HISTOGRAM,
    _ORCHESTRATOR,
    "Duration of finished answers.",
    labels=("policy",),
    buckets=_SECONDS,
)
ANSWER_FIRST_TOKEN = Metric(
    "scaar_answer_first_token_seconds",
    Kind.HISTOGRAM,
    _ORCHESTRATOR,
    "Time from the request to the first drafted token of the answer, including waiting in the "
    "queue.",
    labels=("policy",),
    buckets=_SECONDS,
)
ANSWER_FIRST_SENTENCE = Metric(
    "scaar_answer_first_sentence_seconds",
    Kind.HISTOGRAM,
    _ORCHESTRATOR,
    "Time from the request to the first accepted sentence of the answer, the first text that the "
    "client can show, including waiting in the queue.",
    labels=("policy",),
    buckets=_SECONDS,
)
ANSWER_PARTS = Metric(
    "scaar_answer_waiting_seconds_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Time that finished answers waited for a part: generation, scoring or retrieval. The times may "
    "overlap.",
    labels=("part",),
)
ANSWER_RETRIEVALS = Metric(
    "scaar_answer_retrievals",
    Kind.HISTOGRAM,
    _ORCHESTRATOR,
    "Number of retrievals of a finished answer.",
    labels=("policy",),
    buckets=_COUNTS,
)
ANSWER_LIMIT = Metric(
    "scaar_answer_limit",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Maximum number of concurrent answers, learned from what the generator declares and rejects.",
)
ANSWERS_IN_PROGRESS = Metric(
    "scaar_answers_in_progress",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Admitted answers in progress.",
)
ANSWERS_QUEUED = Metric(
    "scaar_answers_queued",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Answers in the queue.",
)
ANSWERS_SHED = Metric(
    "scaar_answers_shed_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Answers rejected before their first model call, by reason: queue_full; too_late, not admitted "
    "within the deadline or the maximum queue time; back_end, a service rejected the first call.",
    labels=("reason",),
)
CALLS_RETRIED = Metric(
    "scaar_calls_retried_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Calls of admitted answers that a service rejected for overload and that were retried after a "
    "delay.",
)
SENTENCES_JUDGED = Metric(
    "scaar_sentences_judged_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Drafted sentences whose words were compared with their thresholds.",
    labels=("policy",),
)
TRIGGERS = Metric(
    "scaar_triggers_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Judged sentences with an uncertain word.",
    labels=("policy",),
)
SENTENCES_DEGRADED = Metric(
    "scaar_sentences_degraded_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Sentences that were accepted as drafted because a part of the platform failed.",
    labels=("policy",),
)
ARTEFACT_MISMATCHES = Metric(
    "scaar_artefact_mismatches_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Answers by a tuned policy with another model, scorer or index, or another version of the "
    "index, than those that it was tuned on.",
    labels=("policy",),
)
POLICY_EXPECTED_TRIGGER_RATE = Metric(
    "scaar_policy_expected_trigger_rate",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Share of the judged sentences that a tuned policy is expected to retrieve for, from its "
    "artefact. Compare it with `scaar_triggers_total` over `scaar_sentences_judged_total`.",
    labels=("policy",),
)
POLICY_EXPECTED_SEARCHES = Metric(
    "scaar_policy_expected_searches",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Searches per answer that a tuned policy is expected to make, from its artefact. Compare it "
    "with `scaar_answer_retrievals`.",
    labels=("policy",),
)
SHADOW_DRAFTS = Metric(
    "scaar_shadow_drafts_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Drafts that the shadow policy judged too, by outcome: both or neither would retrieve; "
    "policy_only or shadow_only; failed, the scorer failed for the shadow. unavailable counts "
    "answers whose model cannot serve the shadow, or is not the one that it was tuned on.",
    labels=("policy", "shadow", "outcome"),
)
TOKENS = Metric(
    "scaar_tokens_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Tokens used by finished answers: prompt, and generated including discarded drafts.",
    labels=("kind",),
)
SCORER_BATCH_PAIRS = Metric(
    "scaar_scorer_batch_pairs",
    Kind.HISTOGRAM,
    _SCORER,
    "Number of text pairs in one batch of the model.",
    buckets=_PAIRS,
)
SCORER_QUEUE = Metric(
    "scaar_scorer_queue_seconds",
    Kind.HISTOGRAM,
    _SCORER,
    "Time that a call waited until the first of its pairs entered a batch; with Triton, until each "
    "request was sent.",
    buckets=_SECONDS,
)
SCORER_CACHE_HITS = Metric(
    "scaar_scorer_cache_hits_total",
    Kind.COUNTER,
    _SCORER,
    "Sentences whose contributions were in the cache.",
)
SCORER_CACHE_JOINED = Metric(
    "scaar_scorer_cache_joined_total",
    Kind.COUNTER,
    _SCORER,
    "Sentences that another call was already computing.",
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
    "Stored evaluations of all tenants, by state: queued, running, succeeded, failed or cancelled. "
    "Every evaluator of a database reports the same number: take the maximum.",
    labels=("state",),
)
OLDEST_QUEUED = Metric(
    "scaar_evaluations_oldest_queued_seconds",
    Kind.GAUGE,
    _EVALUATOR,
    "Age of the oldest queued evaluation; 0 if none is queued.",
)
SHARDS = Metric(
    "scaar_shards",
    Kind.GAUGE,
    _EVALUATOR,
    "Unfinished shards of running evaluations: waiting or leased. Workers are scaled by it.",
    labels=("state",),
)
SHARDS_LEASED = Metric(
    "scaar_shards_leased_total",
    Kind.COUNTER,
    _EXECUTING,
    "Shards that the process leased.",
)
SHARDS_ENDED = Metric(
    "scaar_shards_ended_total",
    Kind.COUNTER,
    _EXECUTING,
    "Leases of shards that ended, by end: finished; released, unfinished because the process "
    "stopped or the shard's time was up; dropped, because the evaluation had ended or the lease "
    "had expired; refused, because the shard made the evaluation fail; database_unavailable; "
    "fault, an internal error.",
    labels=("end",),
)
SHARD_DURATION = Metric(
    "scaar_shard_duration_seconds",
    Kind.HISTOGRAM,
    _EXECUTING,
    "Duration of leases of shards, whatever their end.",
    buckets=_SHARDS,
)
QUESTIONS = Metric(
    "scaar_questions_total",
    Kind.COUNTER,
    _EXECUTING,
    "Questions evaluated with a variant, by outcome: answered, or the reason of the error, in "
    "lower case. Repeated attempts count again.",
    labels=("outcome",),
)
QUESTIONS_WAITING = Metric(
    "scaar_questions_waiting_seconds_total",
    Kind.COUNTER,
    _EXECUTING,
    "Time that questions waited for an orchestrator, by reason: overloaded, for the delay that it "
    "requested, or backend_unavailable. The rate is the number of questions waiting.",
    labels=("reason",),
)
RECORDS_WRITTEN = Metric(
    "scaar_records_written_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Records of answers that the database has stored.",
)
RECORDS_DROPPED = Metric(
    "scaar_records_dropped_total",
    Kind.COUNTER,
    _ORCHESTRATOR,
    "Records of answers that were lost, by reason: queue_full if the database is slower than the "
    "answers or unavailable, closed if the orchestrator was stopped while it was, or fault.",
    labels=("reason",),
)
RECORDS_WAITING = Metric(
    "scaar_records_waiting",
    Kind.GAUGE,
    _ORCHESTRATOR,
    "Records of answers that wait to be stored.",
)
HTTP_REQUESTS = Metric(
    "scaar_http_requests_total",
    Kind.COUNTER,
    _HTTP,
    "Finished HTTP requests, by route and status; 499 if the client left before the response.",
    labels=("route", "status"),
)
HTTP_DURATION = Metric(
    "scaar_http_duration_seconds",
    Kind.HISTOGRAM,
    _HTTP,
    "Duration of HTTP requests, including rejected requests and whole streams.",
    labels=("route",),
    buckets=_SECONDS,
)
HTTP_IN_PROGRESS = Metric(
    "scaar_http_in_progress",
    Kind.GAUGE,
    _HTTP,
    "HTTP requests in progress, including open streams.",
)

METRICS = (
    SERVICE_INFO,
    RPC_REQUESTS,
    RPC_DURATION,
    RPC_IN_PROGRESS,
    BREAKER_STATE,
    BREAKER_REFUSALS,
    ANSWERS,
    ANSWER_DURATION,
    ANSWER_FIRST_TOKEN,
    ANSWER_FIRST_SENTENCE,
    ANSWER_PARTS,
    ANSWER_RETRIEVALS,
    ANSWER_LIMIT,
    ANSWERS_IN_PROGRESS,
    ANSWERS_QUEUED,
    ANSWERS_SHED,
    CALLS_RETRIED,
    SENTENCES_JUDGED,
    TRIGGERS,
    SENTENCES_DEGRADED,
    ARTEFACT_MISMATCHES,
    POLICY_EXPECTED_TRIGGER_RATE,
    POLICY_EXPECTED_SEARCHES,
    SHADOW_DRAFTS,
    TOKENS,
    SCORER_BATCH_PAIRS,
    SCORER_QUEUE,
    SCORER_CACHE_HITS,
    SCORER_CACHE_JOINED,
    SCORER_CACHE_MISSES,
    EVALUATIONS,
    OLDEST_QUEUED,
    SHARDS,
    SHARDS_LEASED,
    SHARDS_ENDED,
    SHARD_DURATION,
    QUESTIONS,
    QUESTIONS_WAITING,
    RECORDS_WRITTEN,
    RECORDS_DROPPED,
    RECORDS_WAITING,
    HTTP_REQUESTS,
    HTTP_DURATION,
    HTTP_IN_PROGRESS,
)
"""All metrics, in the order of the documentation."""
