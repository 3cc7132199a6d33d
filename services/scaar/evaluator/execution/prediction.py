"""The prediction for one question at one setting, collected from the events of its answer."""

from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scaar.core.errors import ScaarError, StreamIncomplete
from scaar.core.ports import Answerer
from scaar.core.types import (
    AnswerDrafted,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    CandidatesScored,
    GateJudged,
    PassagesFiltered,
    PassagesRetrieved,
    Provenance,
    QueryBuilt,
    RetrievalWeighed,
    SearchRequested,
    SentenceAccepted,
    SentenceJudged,
    Usage,
)
from scaar.evaluator.execution.provenance import request_for
from scaar.evaluator.oracles import current_facts
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Decision, Failure, Prediction

if TYPE_CHECKING:
    from scaar.lab.reading import WorldFacts

NO_USAGE = Usage(retrievals=0, llm_calls=0, generated_tokens=0, prompt_tokens=0, latency_ms=0.0)


@dataclass(frozen=True, slots=True)
class PredictionOutcome:
    """A prediction and its provenance, which is None if the answer never started."""

    prediction: Prediction
    provenance: Provenance | None


async def predict(answerer: Answerer, work: Work, template: AnswerRequest) -> PredictionOutcome:
    """Return the prediction; a failed one if the answerer raises a ScaarError."""
    request = replace(
        request_for(work.setting, template),
        question=work.question.question,
        omit_drafted_tokens=True,
    )
    label, question_id = work.key
    provenance = gate = None
    try:
        async with aclosing(answerer.stream_answer(request)) as events:
            decisions = _Decisions()
            async for event in events:
                decisions.take(event)
                if isinstance(event, AnswerStarted):
                    # A retried answer starts again: discard the events of earlier attempts.
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
                        rounds=tuple(decisions.rounds),
                        abstained=answer.abstained,
                    )
                    return PredictionOutcome(found, answer.provenance)
        raise StreamIncomplete("the answer ended without its final event")
    except ScaarError as error:
        failure = Failure(error.reason, error.message)
        failed = Prediction(label, question_id, "", "", NO_USAGE, failure=failure)
        return PredictionOutcome(failed, provenance)


def _verified(decision: Decision, facts: "WorldFacts") -> Decision:
    """Return the decision with the truth of its draft and of its sentence."""
    draft = facts.is_right(decision.draft) if decision.draft else None
    return replace(decision, draft_right=draft, right=facts.is_right(decision.text))


class _Decisions:
    """The decisions of one answer, collected from its events."""

    def __init__(self) -> None:
        self._by_sentence: dict[int, Decision] = {}
        self.rounds: list[Decision] = []

    def take(self, event: AnswerEvent) -> None:
        match event:
            case SentenceJudged():
                self._add(
                    event.sentence,
                    draft=event.text,
                    words=event.words,
                    score=event.score,
                    trigger=event.trigger,
                    signals=event.signals,
                    without_contributions=event.without_contributions,
                )
            case QueryBuilt():
                self._add(event.sentence, query=event.query)
            case PassagesRetrieved():
                ids = tuple(passage.id for passage in event.passages)
                self._add(event.sentence, passage_ids=ids, excluded_ids=event.excluded_ids)
            case SearchRequested():
                self._end_request()
                self._add(0, request=event)
            case RetrievalWeighed():
                self._add(event.sentence, weighed=event)
            case CandidatesScored():
                self._add(event.sentence, scored=event)
            case PassagesFiltered():
                self._add(event.sentence, kept_share=event.kept_share)
            case SentenceAccepted():
                self._end_request()
                accepted = event.accepted
                self._add(
                    event.sentence,
                    text=accepted.text,
                    degraded=accepted.degraded,
                    supporting_passage_ids=accepted.supporting_passage_ids,
                )
            case AnswerDrafted():
                # Its first sentence has the retrieval of the round, and the others have nothing.
                first = self._by_sentence.get(0, Decision(text=""))
                self.rounds.append(replace(first, text=event.text))
                self._by_sentence.clear()

    def _end_request(self) -> None:
        first = self._by_sentence.get(0)
        if first is not None and first.request is not None:
            self.rounds.append(self._by_sentence.pop(0))

    def made(self) -> tuple[Decision, ...]:
        found = (self._by_sentence[number] for number in sorted(self._by_sentence))
        facts = current_facts()
        return tuple(found) if facts is None else tuple(_verified(each, facts) for each in found)

    def _add(self, sentence: int, **found: object) -> None:
        before = self._by_sentence.get(sentence, Decision(text=""))
        self._by_sentence[sentence] = replace(before, **found)  # type: ignore[arg-type]
