"""Mapping of a TGI server's errors to scaar's errors, by ``error_type`` and HTTP status.

    validation, 400, 422          InvalidRequest
    413                           PromptTooLong
    overloaded, 429               Overloaded
    incomplete_generation         StreamIncomplete
    generation, healthcheck       BackendUnavailable
    401, 403                      CapabilityMissing
    any other status or kind      BackendUnavailable

A stream that has started reports a failure as an event, with HTTP status 200.
"""

import json
from collections.abc import Mapping
from typing import Any

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    Overloaded,
    PromptTooLong,
    ScaarError,
    StreamIncomplete,
)

_TOLD_CHARACTERS = 300
"""Maximum length of a server's message, which may quote the request."""


def error_of_event(payload: Mapping[str, Any], server: str) -> ScaarError:
    """Return the error of an event with an ``error`` field."""
    return _error(server, 200, str(payload.get("error_type", "")), str(payload.get("error", "")))


def error_of_response(
    status: int, headers: Mapping[str, str], body: str, server: str
) -> ScaarError:
    """Return the error of a response with a status other than 200 and any body."""
    try:
        payload = json.loads(body)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        payload = {}
    kind, text = str(payload.get("error_type", "")), str(payload.get("error", ""))
    if not payload and not body.lstrip().startswith(("<", "{", "[")):
        text = body
    return _error(server, status, kind, text, retry_after=headers.get("Retry-After"))


def _error(
    server: str, status: int, kind: str, text: str, *, retry_after: str | None = None
) -> ScaarError:
    message = f": {_cut(text)}" if text else ""
    if kind == "overloaded" or status == 429:
        description = f"{server} is overloaded{message}"
        return Overloaded(description, retry_after_s=_seconds(retry_after), server=server)
    if kind == "validation" or status in (400, 422):
        return InvalidRequest.of("request", f"was rejected by {server}{message}")
    if kind == "incomplete_generation":
        return StreamIncomplete(f"{server} did not finish the generation{message}")
    if status == 413:
        return PromptTooLong.of("prompt", f"exceeds the maximum request size of {server}")
    if status in (401, 403):
        description = f"{server} rejected the key of SCAAR_GENERATOR_API_KEY (HTTP {status})"
        return CapabilityMissing(description, server=server)
    description = f"{server} failed" + (f" (HTTP {status})" if status != 200 else "")
    return BackendUnavailable(description + message, server=server)


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, min(float(retry_after or 1.0), 60.0))
    except ValueError:  # a date, which no TGI server sends
        return 1.0


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TOLD_CHARACTERS else f"{line[:_TOLD_CHARACTERS]}…"
