"""Answers as OpenAI's responses, whole and as semantic events."""

import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from scaar.core.errors import ScaarError
from scaar.core.types import Usage
from scaar.gateway.answers import Completed, Decided, Part, Started, Style, TextAdded, link_of
from scaar.gateway.content import Citation
from scaar.gateway.errors import error_object
from scaar.gateway.parameters import AnswerParameters
from scaar.gateway.summary import extra_usage, summary
from scaar.gateway.token_logprobs import token_entries
from scaar.http_server.event_stream import sse

Json = dict[str, Any]


def response_of(
    completed: Completed,
    parameters: AnswerParameters,
    style: Style,
    *,
    created_at: int | None = None,
) -> Json:
    """Return the response with the whole answer, created at a time in Unix seconds, or now."""
    if created_at is None:
        created_at = int(time.time())
    request_id = completed.answer.provenance.request_id
    reason = "max_output_tokens" if completed.truncated else None
    return {
        **_response(request_id, parameters, "incomplete" if reason else "completed", created_at),
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [_message(request_id, "completed", [_part(completed)])],
        "usage": _usage(completed.answer.usage),
        "scaar": summary(
            completed, parameters, link_of(completed.answer.provenance, parameters, style)
        ),
    }


async def response_events(
    parts: AsyncGenerator[Part, None], parameters: AnswerParameters, style: Style
) -> AsyncGenerator[bytes, None]:
    """Yield the events of the response, as server-sent events.

    A decision is an event of the type ``scaar.decision``.
    """
    stream, created_at = _EventNumbers(), int(time.time())
    request_id, item_id, text, cited = "", "", "", 0
    try:
        async for part in parts:
            match part:
                case Started():
                    request_id = part.provenance.request_id
                    item_id = _item_id(request_id)
                    begun = _response(request_id, parameters, "in_progress", created_at)
                    yield stream.event("response.created", response=begun)
                    yield stream.event("response.in_progress", response=begun)
                    item = _message(request_id, "in_progress", [])
                    yield stream.event("response.output_item.added", output_index=0, item=item)
                case Decided():
                    yield stream.event("scaar.decision", decision=part.event)
                case TextAdded():
                    at = {"item_id": item_id, "output_index": 0, "content_index": 0}
                    if not text:
                        empty = _text("")
                        yield stream.event("response.content_part.added", **at, part=empty)
                    text += part.text
                    if part.text:
                        name = "response.output_text.delta"
                        entries = token_entries(part.tokens)
                        yield stream.event(name, **at, delta=part.text, logprobs=entries)
                    for each in part.citations:
                        yield stream.event(
                            "response.output_text.annotation.added",
                            **at,
                            annotation_index=cited,
                            annotation=_annotation(each),
                        )
                        cited += 1
                case Completed():
                    whole = response_of(part, parameters, style, created_at=created_at)
                    for event in _ending(stream, part, whole, had_text=bool(text)):
                        yield event
    except ScaarError as error:
        failed = _response(request_id, parameters, "failed", created_at)
        found = error_object(error)
        reported = {"code": found["code"], "message": found["message"]}
        yield stream.event("response.failed", response={**failed, "error": reported})


class _EventNumbers:
    """Numbers the events of a stream."""

    def __init__(self) -> None:
        self._next = 0

    def event(self, kind: str, **fields: Any) -> bytes:
        number = self._next
        self._next += 1
        return sse({"type": kind, "sequence_number": number, **fields}, event=kind)


def _ending(
    stream: _EventNumbers, completed: Completed, whole: Json, *, had_text: bool
) -> list[bytes]:
    whole["scaar"].pop("decisions", None)
    item = whole["output"][0]
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part = item["content"][0]
    events = []
    if not had_text:
        empty = {"type": "refusal", "refusal": ""} if completed.refusal else _text("")
        events.append(stream.event("response.content_part.added", **at, part=empty))
    if completed.refusal:
        delta = completed.refusal
        events.append(stream.event("response.refusal.delta", **at, delta=delta))
        events.append(stream.event("response.refusal.done", **at, refusal=delta))
    else:
        done = {"text": part["text"], "logprobs": part["logprobs"]}
        events.append(stream.event("response.output_text.done", **at, **done))
    events.append(stream.event("response.content_part.done", **at, part=part))
    events.append(stream.event("response.output_item.done", output_index=0, item=item))
    events.append(stream.event(f"response.{whole['status']}", response=whole))
    return events


def _response(request_id: str, parameters: AnswerParameters, status: str, created_at: int) -> Json:
    return {
        "id": f"resp_{request_id}",
        "object": "response",
        "created_at": created_at,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": parameters.model,
        "output": [],
        "parallel_tool_calls": False,
        "temperature": None,
        "tool_choice": "none",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


def _item_id(request_id: str) -> str:
    return f"msg_{request_id}"


def _message(request_id: str, status: str, content: list[Json]) -> Json:
    return {
        "id": _item_id(request_id),
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }


def _part(completed: Completed) -> Json:
    if completed.refusal:
        return {"type": "refusal", "refusal": completed.refusal}
    annotations = [_annotation(each) for each in completed.citations]
    return _text(completed.text, annotations, token_entries(completed.tokens))


def _text(text: str, annotations: Sequence[Json] = (), logprobs: Sequence[Json] = ()) -> Json:
    given = {"annotations": list(annotations), "logprobs": list(logprobs)}
    return {"type": "output_text", "text": text, **given}


def _annotation(citation: Citation) -> Json:
    return {
        "type": "url_citation",
        "start_index": citation.start,
        "end_index": citation.end,
        "title": citation.title,
        "url": citation.url,
    }


def _usage(usage: Usage) -> Json:
    output = usage.generated_tokens + usage.thinking_tokens
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.prompt_tokens - usage.evaluated_prompt_tokens
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": usage.prompt_tokens + output,
        **extra_usage(usage),
    }
