"""What crosses the scorer's port."""

from collections.abc import Sequence

from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.v1 import scorer_pb2 as pb
from scaar.wire.messages.fields import carried_text, finite


def score_requests_to_pb(requests: Sequence[ScoreRequest]) -> pb.ScoreContributionsRequest:
    return pb.ScoreContributionsRequest(
        sentences=[
            pb.SentenceToScore(
                question=carried_text("sentences.question", request.question),
                words=[carried_text("sentences.words", word) for word in request.words],
            )
            for request in requests
        ]
    )


def score_requests_from_pb(message: pb.ScoreContributionsRequest) -> tuple[ScoreRequest, ...]:
    return tuple(ScoreRequest(each.question, tuple(each.words)) for each in message.sentences)


def contributions_to_pb(
    contributions: Sequence[Sequence[float]],
) -> pb.ScoreContributionsResponse:
    return pb.ScoreContributionsResponse(
        sentences=[pb.SentenceContributions(contributions=each) for each in contributions]
    )


def contributions_from_pb(
    message: pb.ScoreContributionsResponse,
) -> tuple[tuple[float, ...], ...]:
    return tuple(
        tuple(finite("sentences.contributions", each) for each in sentence.contributions)
        for sentence in message.sentences
    )


def scorer_to_pb(scorer: ScorerDescription) -> pb.ScorerDescription:
    return pb.ScorerDescription(
        model=scorer.model,
        revision=scorer.revision,
        engine=scorer.engine,
        max_pair_tokens=scorer.max_pair_tokens,
    )


def scorer_from_pb(message: pb.ScorerDescription) -> ScorerDescription:
    return ScorerDescription(
        message.model, message.revision, message.engine, message.max_pair_tokens
    )
