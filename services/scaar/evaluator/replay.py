"""The events of an answer, reconstructed from its stored prediction."""

from collections.abc import Iterator

from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerDrafted,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    PassagesRetrieved,
    Provenance,
    QueryBuilt,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    Token,
    TokenDrafted,
)
from scaar.evaluator.records import Decision, Prediction


def events_of(prediction: Prediction, provenance: Provenance) -> Iterator[AnswerEvent]:
    """Yield the events of an answer, as far as the prediction stores them.

    A draft is a single token, and a passage has only its id. A failed prediction has no final
    event.
    """
    yield AnswerStarted(provenance)
    if prediction.gate is not None:
        yield prediction.gate
    for number, round_ in enumerate(prediction.rounds, 1):
        if round_.request is not None:
            yield round_.request
        drafted = round_.request is None
        yield from _decided(0, round_, provenance, retrieving=drafted and bool(round_.words))
        if round_.request is None:
            yield AnswerDrafted(number, round_.text)
    start, sentences = 0, []
    for number, decision in enumerate(prediction.decisions):
        yield from _decided(number, decision, provenance)
        accepted = AcceptedSentence(
            decision.text,
            decision.passage_ids,
            degraded=decision.degraded,
            supporting_passage_ids=decision.supporting_passage_ids,
        )
        sentences.append(accepted)
        yield SentenceAccepted(number, accepted, start, start + len(decision.text))
        start += len(decision.text)
    if prediction.end is not None:
        yield AnswerFinished(
            Answer(
                prediction.answer,
                tuple(sentences),
                prediction.end,
                prediction.usage,
                provenance,
                abstained=prediction.abstained,
            )
        )


def _decided(
    number: int, decision: Decision, made: Provenance, *, retrieving: bool = False
) -> Iterator[AnswerEvent]:
    if decision.words:
        yield _drafted(number, decision.draft)
        yield SentenceJudged(
            number,
            decision.draft,
            decision.words,
            decision.trigger,
            retrieving=retrieving or decision.query is not None,
            score=decision.score,
            signals=decision.signals,
            without_contributions=decision.without_contributions,
        )
    if decision.weighed is not None:
        yield decision.weighed
    if decision.query is not None:
        yield QueryBuilt(number, decision.query)
        passages = tuple(
            RetrievedPassage(passage_id, "", "", 0.0, rank)
            for rank, passage_id in enumerate(decision.passage_ids, 1)
        )
        yield PassagesRetrieved(
            number, made.index, made.index_version, passages, decision.excluded_ids
        )
    if decision.scored is not None:
        yield decision.scored
    if decision.words and decision.passage_ids:
        yield SentenceRegenerated(number, decision.draft, decision.text)
    elif not decision.words and decision.request is None and decision.weighed is None:
        yield _drafted(number, decision.text)


def _drafted(number: int, text: str) -> TokenDrafted:
    return TokenDrafted(number, Token(0, text, 0, len(text)))
