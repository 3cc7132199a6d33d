"""The events of an answer."""

from typing import assert_never

from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    GateJudged,
    PassagesRetrieved,
    QueryBuilt,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    TokenDrafted,
)
from scaar.v1 import answer_pb2 as pb
from scaar.wire.messages.answer import (
    accepted_from_pb,
    accepted_to_pb,
    answer_from_pb,
    answer_to_pb,
    provenance_from_pb,
    provenance_to_pb,
)
from scaar.wire.messages.enums import GATE
from scaar.wire.messages.fields import finite
from scaar.wire.messages.generation import token_from_pb, token_to_pb
from scaar.wire.messages.querying import (
    judged_word_from_pb,
    judged_word_to_pb,
    query_from_pb,
    query_to_pb,
)
from scaar.wire.messages.retrieval import retrieved_from_pb, retrieved_to_pb


def answer_event_to_pb(event: AnswerEvent) -> pb.AnswerEvent:
    match event:
        case AnswerStarted(provenance):
            started = pb.AnswerStarted(provenance=provenance_to_pb(provenance))
            return pb.AnswerEvent(started=started)
        case TokenDrafted(sentence, token):
            drafted = pb.TokenDrafted(sentence=sentence, token=token_to_pb(token))
            return pb.AnswerEvent(token_drafted=drafted)
        case GateJudged():
            return pb.AnswerEvent(gate_judged=_gate_to_pb(event))
        case SentenceJudged():
            return pb.AnswerEvent(sentence_judged=_judged_to_pb(event))
        case QueryBuilt(sentence, query):
            built = pb.QueryBuilt(sentence=sentence, query=query_to_pb(query))
            return pb.AnswerEvent(query_built=built)
        case PassagesRetrieved(sentence, index, version, passages):
            retrieved = pb.PassagesRetrieved(
                sentence=sentence,
                index=index,
                index_version=version,
                passages=[retrieved_to_pb(passage) for passage in passages],
            )
            return pb.AnswerEvent(passages_retrieved=retrieved)
        case SentenceRegenerated(sentence, draft, text):
            regenerated = pb.SentenceRegenerated(sentence=sentence, draft=draft, text=text)
            return pb.AnswerEvent(sentence_regenerated=regenerated)
        case SentenceAccepted(sentence, accepted, start, end):
            stands = pb.SentenceAccepted(
                sentence=sentence, accepted=accepted_to_pb(accepted), start=start, end=end
            )
            return pb.AnswerEvent(sentence_accepted=stands)
        case AnswerFinished(answer):
            return pb.AnswerEvent(finished=pb.AnswerFinished(answer=answer_to_pb(answer)))
        case _:
            assert_never(event)


def answer_event_from_pb(message: pb.AnswerEvent) -> AnswerEvent | None:
    """The event; None for one that this version does not know."""
    match message.WhichOneof("event"):
        case "started":
            return AnswerStarted(provenance_from_pb(message.started.provenance))
        case "token_drafted":
            drafted = message.token_drafted
            return TokenDrafted(drafted.sentence, token_from_pb(drafted.token))
        case "gate_judged":
            return _gate_from_pb(message.gate_judged)
        case "sentence_judged":
            return _judged_from_pb(message.sentence_judged)
        case "query_built":
            return QueryBuilt(
                message.query_built.sentence, query_from_pb(message.query_built.query)
            )
        case "passages_retrieved":
            retrieved = message.passages_retrieved
            passages = tuple(retrieved_from_pb(passage) for passage in retrieved.passages)
            return PassagesRetrieved(
                retrieved.sentence, retrieved.index, retrieved.index_version, passages
            )
        case "sentence_regenerated":
            regenerated = message.sentence_regenerated
            return SentenceRegenerated(regenerated.sentence, regenerated.draft, regenerated.text)
        case "sentence_accepted":
            stands = message.sentence_accepted
            accepted = accepted_from_pb(stands.accepted)
            return SentenceAccepted(stands.sentence, accepted, stands.start, stands.end)
        case "finished":
            return AnswerFinished(answer_from_pb(message.finished.answer))
        case None:
            return None


def _gate_to_pb(event: GateJudged) -> pb.GateJudged:
    return pb.GateJudged(
        gate=GATE.to_pb(event.gate),
        long_tail=event.long_tail,
        probability=event.probability,
        threshold=event.threshold,
        average_frequency=event.average_frequency,
        rarest_frequency=event.rarest_frequency,
        confidence=event.confidence,
    )


def _gate_from_pb(message: pb.GateJudged) -> GateJudged:
    return GateJudged(
        gate=GATE.from_pb(message.gate, "gate"),
        long_tail=message.long_tail,
        probability=finite("probability", message.probability),
        threshold=finite("threshold", message.threshold),
        average_frequency=finite("average_frequency", message.average_frequency),
        rarest_frequency=finite("rarest_frequency", message.rarest_frequency),
        confidence=finite("confidence", message.confidence),
    )


def _judged_to_pb(event: SentenceJudged) -> pb.SentenceJudged:
    return pb.SentenceJudged(
        sentence=event.sentence,
        text=event.text,
        words=[judged_word_to_pb(word) for word in event.words],
        trigger=event.trigger,
        retrieving=event.retrieving,
        score=event.score,
    )


def _judged_from_pb(message: pb.SentenceJudged) -> SentenceJudged:
    return SentenceJudged(
        sentence=message.sentence,
        text=message.text,
        words=tuple(
            judged_word_from_pb(word, f"words[{position}]")
            for position, word in enumerate(message.words)
        ),
        trigger=message.trigger if message.HasField("trigger") else None,
        retrieving=message.retrieving,
        score=finite("score", message.score) if message.HasField("score") else None,
    )
