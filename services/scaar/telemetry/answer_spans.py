"""Spans of the steps of an answer, from its events: draft, judge, query, retrieve, regenerate.

A step lasts from the previous event to its own event, at the time that the client receives them. A
client that reads slowly lengthens the next step. The answer and its retrievals have attributes by
OpenTelemetry's conventions for generative AI (:mod:`scaar.telemetry.gen_ai`).
"""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from opentelemetry import trace

from scaar.core.calls.context import CallContext, current_call
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    CandidatesScored,
    Message,
    MessageRole,
    PassagesFiltered,
    PassagesRetrieved,
    PromptRead,
    Provenance,
    QueryBuilt,
    QuestionRewritten,
    RetrievalWeighed,
    SearchRequested,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    TokenDrafted,
)
from scaar.telemetry import gen_ai
from scaar.telemetry.answers import failure_of
from scaar.telemetry.tracing import REQUEST_ID, parent_of

NOTHING: Mapping[str, str] = MappingProxyType({})
_Attributes = dict[str, str | int | bool]


class AnswerSpans:
    """An :class:`~scaar.telemetry.answers.AnswerWatch` that adds child spans to the call's span.

    Question, queries, passages and answer are recorded only with ``content``.
    """

    def __init__(
        self,
        tracer: trace.Tracer,
        request: AnswerRequest,
        *,
        content: bool = False,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._tracer = tracer
        self._request = request
        self._content = content
        self._clock_ns = clock_ns
        self._call = current_call() or CallContext(request_id=request.request_id)
        self._span = trace.get_current_span()
        self._span.set_attributes(
            {gen_ai.OPERATION: gen_ai.INVOKE_AGENT, gen_ai.AGENT: request.policy.label}
        )
        self._parent = parent_of(self._call)
        self._last_ns = clock_ns()
        self._drafted: tuple[int, int, int] | None = None
        """Sentence, number of tokens and time of the last token of a draft without a span."""
        self._query = ""
        """Text of the query of the next retrieval."""
        self._finished = False

    def on_event(self, event: AnswerEvent) -> None:
        now = self._clock_ns()
        match event:
            case TokenDrafted(sentence=sentence):
                if self._drafted and self._drafted[0] != sentence:
                    self._end_draft()
                tokens = self._drafted[1] if self._drafted else 0
                self._drafted = sentence, tokens + 1, now
                return
            case AnswerStarted(provenance=provenance):
                self._last_ns = now
                self._begin(provenance)
                return
            case PromptRead():
                return
            case AnswerFinished(answer=answer):
                self._finished = True
                self._end(answer.end.value, answer)
            case _:
                pass
        self._end_draft()
        match event:
            case SentenceJudged(sentence=sentence, trigger=trigger, retrieving=retrieving):
                uncertain = trigger is not None
                self._step("judge", now, sentence, uncertain=uncertain, retrieving=retrieving)
            case QuestionRewritten(outcome=outcome):
                self._step("rewrite", now, 0, outcome=outcome.value)
            case SearchRequested(decision=decision):
                self._step("request", now, 0, decision=decision.value)
            case RetrievalWeighed(sentence=sentence, decision=weighed):
                self._step("weigh", now, sentence, decision=weighed.value)
            case CandidatesScored(sentence=sentence, candidates=candidates):
                self._step("rank", now, sentence, candidates=len(candidates))
            case QueryBuilt(sentence=sentence, query=query):
                self._query = query.text
                self._step("query", now, sentence)
            case PassagesRetrieved(sentence=sentence, passages=passages):
                self._step(
                    "retrieve", now, sentence, self._retrieval(event), passages=len(passages)
                )
            case PassagesFiltered(sentence=sentence, fell_back=fell_back):
                self._step("filter", now, sentence, fell_back=fell_back)
            case SentenceRegenerated(sentence=sentence):
                self._step("regenerate", now, sentence)
            case SentenceAccepted():
                self._last_ns = now
            case _:
                pass

    def on_end(self, error: BaseException | None) -> None:
        self._end_draft()
        if not self._finished:
            self._end(failure_of(error), None)
            if isinstance(error, Exception):
                self._span.set_attribute(gen_ai.ERROR, failure_of(error))

    def _end_draft(self) -> None:
        if self._drafted is not None:
            sentence, tokens, ended_ns = self._drafted
            self._drafted = None
            self._step("draft", ended_ns, sentence, tokens=tokens)

    def _step(
        self,
        name: str,
        ended_ns: int,
        sentence: int,
        conventional: Mapping[str, str] = NOTHING,
        **more: int | bool | str,
    ) -> None:
        attributes: _Attributes = {
            REQUEST_ID: self._call.request_id,
            "scaar.sentence": sentence,
            **{f"scaar.{key}": value for key, value in more.items()},
            **conventional,
        }
        span = self._tracer.start_span(
            name, context=self._parent, attributes=attributes, start_time=self._last_ns
        )
        span.end(ended_ns)
        self._last_ns = ended_ns

    def _retrieval(self, event: PassagesRetrieved) -> Mapping[str, str]:
        content = {gen_ai.QUERY: self._query} if self._content else NOTHING
        return {
            gen_ai.OPERATION: gen_ai.RETRIEVAL,
            gen_ai.DATA_SOURCE: event.index,
            gen_ai.DOCUMENTS: gen_ai.documents(event.passages, content=self._content),
            **content,
        }

    def _begin(self, provenance: Provenance) -> None:
        """Set what answers as attributes of the call's span."""
        self._span.set_attributes(
            {gen_ai.PROVIDER: provenance.engine, gen_ai.MODEL: provenance.model}
        )
        if provenance.index_version:
            self._span.set_attribute(gen_ai.DATA_SOURCE, provenance.index)
        if self._content:
            question = Message(MessageRole.USER, self._request.question)
            messages = self._request.messages or (question,)
            self._span.set_attribute(gen_ai.INPUT_MESSAGES, gen_ai.input_messages(messages))

    def _end(self, end: str, answer: Answer | None) -> None:
        """Set the outcome of the answer as attributes of the call's span."""
        self._span.set_attribute("scaar.policy", self._request.policy.label)
        self._span.set_attribute("scaar.end", end)
        if answer is None:
            return
        usage = answer.usage
        self._span.set_attributes(
            {
                "scaar.retrievals": usage.retrievals,
                gen_ai.INPUT_TOKENS: usage.prompt_tokens,
                gen_ai.OUTPUT_TOKENS: usage.generated_tokens + usage.thinking_tokens,
            }
        )
        if self._content:
            output = gen_ai.output_messages([(answer.text, gen_ai.finish_reason(answer.end))])
            self._span.set_attribute(gen_ai.OUTPUT_MESSAGES, output)
