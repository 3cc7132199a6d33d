"""Metrics of answers, from their events."""

import time
from collections.abc import Callable

from scaar.core.policies import PRESETS
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    Provenance,
    SentenceAccepted,
    SentenceJudged,
    TokenDrafted,
)
from scaar.telemetry.answers import failure_of
from scaar.telemetry.metric_table import (
    ANSWER_DURATION,
    ANSWER_FIRST_SENTENCE,
    ANSWER_FIRST_TOKEN,
    ANSWER_PARTS,
    ANSWER_RETRIEVALS,
    ANSWERS,
    ARTEFACT_MISMATCHES,
    SENTENCES_DEGRADED,
    SENTENCES_JUDGED,
    TOKENS,
    TRIGGERS,
    Metric,
)
from scaar.telemetry.metrics import Metrics

NO_POLICY = "none"
"""Label value of unknown policies, which bounds the number of label values."""


class AnswerMetrics:
    """An :class:`~scaar.telemetry.answers.AnswerWatch` that updates the metrics of an answer."""

    def __init__(
        self,
        metrics: Metrics,
        request: AnswerRequest,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._metrics = metrics
        self._clock = clock
        self._began = clock()
        self._awaited = {ANSWER_FIRST_TOKEN, ANSWER_FIRST_SENTENCE}
        """The histograms of what the answer has not had yet."""
        policy = request.policy
        self._policy = policy.label if policy.name in PRESETS else NO_POLICY
        self._finished = False

    def on_event(self, event: AnswerEvent) -> None:
        match event:
            case TokenDrafted():
                self._reach(ANSWER_FIRST_TOKEN)
            case AnswerStarted(provenance=Provenance(artefact_mismatch=(_, *_))):
                self._metrics.add(ARTEFACT_MISMATCHES, self._policy)
            case SentenceJudged(trigger=trigger):
                self._metrics.add(SENTENCES_JUDGED, self._policy)
                if trigger is not None:
                    self._metrics.add(TRIGGERS, self._policy)
            case SentenceAccepted(accepted=accepted):
                self._reach(ANSWER_FIRST_SENTENCE)
                if accepted.degraded is not None:
                    self._metrics.add(SENTENCES_DEGRADED, self._policy)
            case AnswerFinished(answer=answer):
                self._finished = True
                self._count(answer)
            case _:
                pass

    def on_end(self, error: BaseException | None) -> None:
        if not self._finished:
            self._metrics.add(ANSWERS, self._policy, failure_of(error))

    def _reach(self, first: Metric) -> None:
        """Observe the time to the first event of a kind."""
        if first in self._awaited:
            self._awaited.remove(first)
            self._metrics.observe(first, self._clock() - self._began, self._policy)

    def _count(self, answer: Answer) -> None:
        metrics, usage, policy = self._metrics, answer.usage, self._policy
        metrics.add(ANSWERS, policy, answer.end.value)
        metrics.observe(ANSWER_DURATION, usage.latency_ms / 1000, policy)
        metrics.observe(ANSWER_RETRIEVALS, usage.retrievals, policy)
        metrics.add(TOKENS, "generated", by=usage.generated_tokens)
        metrics.add(TOKENS, "prompt", by=usage.prompt_tokens)
        for part, waited_ms in (
            ("generation", usage.generation_ms),
            ("scoring", usage.scoring_ms),
            ("retrieval", usage.retrieval_ms),
        ):
            metrics.add(ANSWER_PARTS, part, by=waited_ms / 1000)
