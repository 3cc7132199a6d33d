"""Mapping of an OpenAI-compatible server's errors to scaar's errors.

Only codes of a server's error are reported: its texts may quote the prompt or the key.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, OpenAIError

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PromptTooLong,
    ScaarError,
    StreamIncomplete,
    Violation,
)
from scaar.generator.engines.served.tls import tls_failure

_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_CONTEXT = re.compile(r"context (?:length|size|window)|maximum model length|max_model_len", re.I)
_LIMIT = re.compile(r"context (?:length|size|window)(?: is)?(?: only)?(?: of)? \(?(\d+)", re.I)
_READ = (
    re.compile(r"(\d+) in the (?:messages|prompt)", re.I),
    re.compile(r"(\d+) (?:input tokens|tokens from the input)", re.I),
    re.compile(r"request \((\d+) tokens\)", re.I),
)
_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_LONGEST_WAIT_S = 3600.0
_TEXT_CHARACTERS = 300
"""Maximum length of a server's own text, which may repeat the prompt."""


class NoRoom(PromptTooLong):
    """Prompt and ``max_tokens`` exceed the context; ``room`` is what the prompt leaves of it.

    ``limit`` is the length of the context, ``read`` that of the prompt, in tokens; None if the
    server does not name it. The room is 0 if it is not known.
    """

    def __init__(self, limit: int | None, read: int | None) -> None:
        text = "must leave room for generated tokens in the context of the model"
        text += f", {limit:,} tokens" if limit is not None else ""
        text += f": it has {read:,}" if read is not None else ""
        super().__init__((Violation("prompt", text),))
        self.room = max(0, limit - read) if limit and read else 0


def failure_of(error: OpenAIError, server: str, *, started: bool) -> ScaarError:
    """Return the error; ``started`` is true if the server had started to stream."""
    match error:
        case APITimeoutError():
            return _timeout(error, server)
        case APIConnectionError() if started:
            description = f"{server} closed the stream before its end"
            return StreamIncomplete(description, server=server)
        case APIConnectionError():
            refused = tls_failure(error, server)
            return refused or BackendUnavailable(f"{server} does not answer", server=server)
        case APIStatusError():
            return _refusal(error, error.status_code, server)
        case APIError() if (status := _status_in(error)) is not None:
            return _refusal(error, status, server)
        case _:
            description = f"{server} failed during generation{_code(error)}"
            return BackendUnavailable(description, detail=_own_text(error), server=server)


def _timeout(error: APITimeoutError, server: str) -> ScaarError:
    # Only the type of the underlying library's exception tells which timeout it was.
    if type(error.__cause__).__name__ in ("ConnectTimeout", "PoolTimeout"):
        return BackendUnavailable(f"connecting to {server} timed out", server=server)
    return DeadlineExceeded(f"{server} did not answer in time", server=server)


def _refusal(error: APIError, status: int, server: str) -> ScaarError:
    description = f"{server} rejected the request with HTTP {status}{_code(error)}"
    detail = _own_text(error)
    match status:
        case 400 | 413 | 422 if _is_of_context(error, status):
            return NoRoom(*_context_and_prompt(_message(error)))
        case 400 | 413 | 422:
            return InvalidRequest.of("request", description, detail=detail)
        case 401 | 403:
            description = f"{description}: check SCAAR_GENERATOR_API_KEY"
            return CapabilityMissing(description, server=server)
        case 404:
            description = f"{description}{_path(error)}: it has no such model, or no such path"
            return NotFound(description, detail=detail, server=server)
        case 405 | 501:
            description = f"{description}: it does not serve this API"
            return CapabilityMissing(description, detail=detail, server=server)
        case 408:
            return DeadlineExceeded(description, detail=detail, server=server)
        case 429:
            description = f"{server} is overloaded{_code(error)}"
            wait = _retry_after_s(error)
            return Overloaded(description, retry_after_s=wait, detail=detail, server=server)
        case _:
            return BackendUnavailable(description, detail=detail, server=server)


def _is_of_context(error: APIError, status: int) -> bool:
    if status == 413 or _CONTEXT_CODES & {error.code, error.type}:
        return True
    return bool(_CONTEXT.search(_message(error)))


def _context_and_prompt(message: str) -> tuple[int | None, int | None]:
    """Return the tokens of the context and of the prompt that the text of an error names."""
    limit = _LIMIT.search(message)
    read = next((found for form in _READ if (found := form.search(message))), None)
    return limit and int(limit[1]), read and int(read[1])


def _message(error: APIError) -> str:
    """Return the server's error message, for parsing only."""
    message = error.body
    if isinstance(message, Mapping):
        message = message.get("message") or message.get("detail")
    return message[:2000] if isinstance(message, str) else ""


def _own_text(error: OpenAIError) -> str:
    """Return the server's own text, cut, for the log and this terminal; empty for a web page.

    The text of a refused key is never used: it may quote the key.
    """
    text = " ".join(_message(error).split()) if isinstance(error, APIError) else ""
    if text.startswith("<"):
        return ""
    return text if len(text) <= _TEXT_CHARACTERS else f"{text[:_TEXT_CHARACTERS]}…"


def _code(error: OpenAIError) -> str:
    """Return the error's code and field, if they are names and not free text."""
    code, kind, field = (_name(getattr(error, name, None)) for name in ("code", "type", "param"))
    names = [name for name in (code or kind, field) if name]
    return f" ({': '.join(names)})" if names else ""


def _path(error: APIError) -> str:
    """Return the path of the request, with the setting that selects the other API."""
    path = error.request.url.path
    chats = "; for a server that only chats, set SCAAR_GENERATOR_OPENAI_API=chat"
    completes = path.endswith("/completions") and not path.endswith("/chat/completions")
    return f" for {path[:100]}{chats if completes else ''}"


def _name(value: object) -> str:
    named = isinstance(value, str) and _CODE.fullmatch(value) and not value.isdigit()
    return str(value) if named else ""


def _status_in(error: APIError) -> int | None:
    """Return the status that an error within a stream has as its code."""
    code = error.code or ""
    return int(code) if code.isdigit() and 400 <= int(code) < 600 else None


def _retry_after_s(error: APIError) -> float:
    """Return the requested delay in seconds, from a number or a date; 1 by default."""
    delay = error.response.headers.get("retry-after") if isinstance(error, APIStatusError) else None
    if delay is None:
        return 1.0
    try:
        seconds = float(delay)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(delay) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return 1.0
    return min(max(seconds, 0.0), _LONGEST_WAIT_S) if math.isfinite(seconds) else 1.0
