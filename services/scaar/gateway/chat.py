"""Answers as chat completions, whole and in chunks."""

import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from scaar.core.errors import ScaarError
from scaar.core.types import AcceptedToken, Usage
from scaar.gateway.answers import Completed, Decided, Part, Started, Style, TextAdded, link_of
from scaar.gateway.content import Citation
from scaar.gateway.errors import error_object
from scaar.gateway.parameters import AnswerParameters
from scaar.gateway.summary import extra_usage, summary
from scaar.gateway.token_logprobs import token_entries
from scaar.http_server.event_stream import DONE, sse

Json = dict[str, Any]


def chat_completion(completed: Completed, parameters: AnswerParameters, style: Style) -> Json:
    """Return the chat completion of an answer."""
    message: Json = {
        "role": "assistant",
        "content": None if completed.refusal else completed.text,
        "refusal": completed.refusal or None,
        "annotations": [_annotation(each) for each in completed.citations],
    }
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(completed)}
    return {
        **_head(completed.answer.provenance.request_id, parameters, "chat.completion"),
        "choices": [{**choice, "logprobs": _logprobs(completed.tokens)}],
        "usage": _usage(completed.answer.usage),
        "scaar": summary(
            completed, parameters, link_of(completed.answer.provenance, parameters, style)
        ),
    }


async def chat_chunks(
    parts: AsyncGenerator[Part, None],
    parameters: AnswerParameters,
    style: Style,
    *,
    include_usage: bool,
) -> AsyncGenerator[bytes, None]:
    """Yield the answer as chunks, as server-sent events.

    A decision is a chunk without choices, whose field ``scaar`` has the event.
    """
    head: Json = {}
    try:
        async for part in parts:
            match part:
                case Started():
                    head = _head(part.provenance.request_id, parameters, "chat.completion.chunk")
                    yield sse(_chunk(head, {"role": "assistant", "content": ""}))
                case TextAdded():
                    delta: Json = {"content": part.text}
                    if part.citations:
                        delta["annotations"] = [_annotation(each) for each in part.citations]
                    yield sse(_chunk(head, delta, logprobs=_logprobs(part.tokens)))
                case Decided():
                    yield sse({**head, "choices": [], "scaar": {"event": part.event}})
                case Completed():
                    end = sse(_chunk(head, {"refusal": part.refusal})) if part.refusal else b""
                    ended = _chunk(head, {}, _finish_reason(part))
                    found = summary(
                        part, parameters, link_of(part.answer.provenance, parameters, style)
                    )
                    found.pop("decisions", None)
                    end += sse({**ended, "scaar": found})
                    if include_usage:
                        usage = _usage(part.answer.usage)
                        end += sse({**head, "choices": [], "usage": usage})
                    yield end + DONE
    except ScaarError as error:
        # The status is sent; clients raise the error of the event.
        yield sse({"error": error_object(error)})


def _head(request_id: str, parameters: AnswerParameters, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{request_id}",
        "object": kind,
        "created": int(time.time()),
        "model": parameters.model,
    }


def _chunk(
    head: Json, delta: Json, finish_reason: str | None = None, *, logprobs: Json | None = None
) -> Json:
    choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}
    return {**head, "choices": [choice]}


def _logprobs(tokens: Sequence[AcceptedToken]) -> Json | None:
    return {"content": token_entries(tokens), "refusal": None} if tokens else None


def _finish_reason(completed: Completed) -> str:
    return "length" if completed.truncated else "stop"


def _annotation(citation: Citation) -> Json:
    return {
        "type": "url_citation",
        "url_citation": {
            "start_index": citation.start,
            "end_index": citation.end,
            "title": citation.title,
            "url": citation.url,
        },
    }


def _usage(usage: Usage) -> Json:
    completion = usage.generated_tokens + usage.thinking_tokens
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": usage.prompt_tokens + completion,
        "prompt_tokens_details": {
            "cached_tokens": usage.prompt_tokens - usage.evaluated_prompt_tokens
        },
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        **extra_usage(usage),
    }
