"""One question under one setting: the answer's events as a prediction."""

from contextlib import aclosing
from dataclasses import dataclass, replace

from scaar.core.errors import ScaarError, StreamIncomplete
from scaar.core.ports import Answerer
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    GateJudged,
    PassagesRetrieved,
    Provenance,
    QueryBuilt,
    SentenceAccepted,
    SentenceJudged,
    Usage,
)
from scaar.evaluator.execution.opening import request_under
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Decision, Failure, Prediction

NO_BILL = Usage(retrievals=0, llm_calls=0, generated_tokens=0, prompt_tokens=0, latency_ms=0.0)


@dataclass(frozen=True, slots=True)
class Predicted:
    """A prediction, and what made it; nothing is known of that where opening it failed."""

    prediction: Prediction
    provenance: Provenance | None


async def predict(answerer: Answerer, work: Work, template: AnswerRequest) -> Predicted:
    """The prediction; a failed one where the answerer reports a condition."""
    request = replace(request_under(work.setting, template), question=work.question.question)
    label, question_id = work.key
    provenance = gate = None
    try:
        async with aclosing(answerer.stream_answer(request)) as events:
            decisions = _Decisions()
            async for event in events:
                decisions.take(event)
                if isinstance(event, AnswerStarted):
                    # It may begin again: what came of it before is not of this answer.
                    provenance, gate, decisions = event.provenance, None, _Decisions()
                if isinstance(event, GateJudged):
                    gate = event
                if isinstance(event, AnswerFinished):
                    answer = event.answer
                    found = Prediction(
                        setting=label,
                        question_id=question_id,
                        answer=answer.answer,
                        text=answer.text,
                        usage=answer.usage,
                        end=answer.end,
                        decisions=decisions.made(),
                        gate=gate,
                    )
                    return Predicted(found, answer.provenance)
        raise StreamIncomplete("the answer ended before its end")
    except ScaarError as error:
        failure = Failure(error.reason, error.message)
        failed = Prediction(label, question_id, "", "", NO_BILL, failure=failure)
        return Predicted(failed, provenance)


class _Decisions:
    """The decisions of one answer, as its events come."""

    def __init__(self) -> None:
        self._by_sentence: dict[int, Decision] = {}

    def take(self, event: AnswerEvent) -> None:
        match event:
            case SentenceJudged():
                self._add(
                    event.sentence,
                    draft=event.text,
                    words=event.words,
                    score=event.score,
                    trigger=event.trigger,
                )
            case QueryBuilt():
                self._add(event.sentence, query=event.query)
            case PassagesRetrieved():
                ids = tuple(passage.id for passage in event.passages)
                self._add(event.sentence, passage_ids=ids)
            case SentenceAccepted():
                accepted = event.accepted
                self._add(event.sentence, text=accepted.text, degraded=accepted.degraded)

    def made(self) -> tuple[Decision, ...]:
        return tuple(self._by_sentence[number] for number in sorted(self._by_sentence))

    def _add(self, sentence: int, **found: object) -> None:
        before = self._by_sentence.get(sentence, Decision(text=""))
        self._by_sentence[sentence] = replace(before, **found)  # type: ignore[arg-type]
