"""The events of answers and generations, which are unions in the domain."""

from scaar.core.types import AnswerEvent, GenerationEvent
from scaar.v1 import answer_pb2, generator_pb2, orchestrator_pb2
from scaar.wire.messages.codec import codec_of

_ANSWER_EVENT = codec_of(AnswerEvent, answer_pb2.AnswerEvent)
_GENERATION_EVENT = codec_of(GenerationEvent, generator_pb2.GenerateResponse)


def answer_event_to_pb(event: AnswerEvent) -> orchestrator_pb2.StreamAnswerResponse:
    """Return the event as a message."""
    return orchestrator_pb2.StreamAnswerResponse(event=_ANSWER_EVENT.write(event))


def answer_event_from_pb(message: orchestrator_pb2.StreamAnswerResponse) -> AnswerEvent | None:
    """Return the event; None if this version does not know it."""
    event: AnswerEvent | None = _ANSWER_EVENT.read(message.event)
    return event


def generation_event_to_pb(event: GenerationEvent) -> generator_pb2.GenerateResponse:
    """Return the event as a message."""
    return generator_pb2.GenerateResponse(**_GENERATION_EVENT.write(event))


def generation_event_from_pb(message: generator_pb2.GenerateResponse) -> GenerationEvent | None:
    """Return the event; None if this version does not know it."""
    event: GenerationEvent | None = _GENERATION_EVENT.read(message)
    return event
