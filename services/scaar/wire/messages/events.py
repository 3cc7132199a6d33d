"""The events of answers and generations, which are unions in the domain."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from scaar.core.errors import InvalidRequest
from scaar.core.text.surrogates import encodable
from scaar.core.types import AnswerEvent, GenerationEvent, Token
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


def answer_event_to_json(event: AnswerEvent) -> dict[str, Any]:
    """Return the event in the JSON form of the contract, with the field names of the contract."""
    message = answer_event_to_pb(event).event
    found: dict[str, Any] = MessageToDict(message, preserving_proto_field_name=True)
    return found


def answer_event_from_json(found: Mapping[str, Any]) -> AnswerEvent | None:
    """Return the event in the JSON form of the contract; None if this version does not know it.

    Raises:
        InvalidRequest: it is not in this form.
    """
    message = orchestrator_pb2.StreamAnswerResponse()
    try:
        ParseDict(dict(found), message.event, ignore_unknown_fields=True)
    except (ParseError, OverflowError, ValueError) as error:
        # protobuf lets the errors of numbers that are too large pass.
        raise InvalidRequest.of("decisions", f"is not an event: {error}") from error
    return answer_event_from_pb(message)


def generation_event_to_pb(event: GenerationEvent) -> generator_pb2.GenerateResponse:
    """Return the event as a message, with U+FFFD in place of unpaired surrogates of a token."""
    if isinstance(event, Token):
        event = encodable(event)
    return generator_pb2.GenerateResponse(**_GENERATION_EVENT.write(event))


def generation_event_from_pb(message: generator_pb2.GenerateResponse) -> GenerationEvent | None:
    """Return the event; None if this version does not know it."""
    event: GenerationEvent | None = _GENERATION_EVENT.read(message)
    return event
