"""What a TGI server's failures mean, by the kind that it tells and by the HTTP status.

    validation, 400, 422          InvalidRequest
    413                           PromptTooLong
    overloaded, 429               Overloaded
    incomplete_generation         StreamIncomplete
    generation, healthcheck       BackendUnavailable
    401, 403                      CapabilityMissing
    any other status or kind      BackendUnavailable

A stream that has begun tells its failures in an event, with HTTP status 200.
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
"""Of what a server says; it might repeat what it was asked."""


def error_of_event(payload: Mapping[str, Any], server: str) -> ScaarError:
    """The condition that an event with an ``error`` in it tells."""
    return _error(server, 200, str(payload.get("error_type", "")), str(payload.get("error", "")))


def error_of_response(
    status: int, headers: Mapping[str, str], body: str, server: str
) -> ScaarError:
    """The condition that a response other than 200 tells; its body may be anything."""
    try:
        payload = json.loads(body)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        payload = {}
    kind, text = str(payload.get("error_type", "")), str(payload.get("error", ""))
    return _error(server, status, kind, text, retry_after=headers.get("Retry-After"))


def _error(
    server: str, status: int, kind: str, text: str, *, retry_after: str | None = None
) -> ScaarError:
    said = f": {_cut(text)}" if text else ""
    if kind == "overloaded" or status == 429:
        told = f"{server} has no room{said}"
        return Overloaded(told, retry_after_s=_seconds(retry_after), server=server)
    if kind == "validation" or status in (400, 422):
        return InvalidRequest.of("request", f"is refused by {server}{said}")
    if kind == "incomplete_generation":
        return StreamIncomplete(f"{server} ended the generation before its end{said}")
    if status == 413:
        return PromptTooLong.of("prompt", f"is longer than {server} reads of a request")
    if status in (401, 403):
        told = f"{server} does not take the key of SCAAR_GENERATOR_API_KEY (HTTP {status})"
        return CapabilityMissing(told, server=server)
    told = f"{server} failed" + (f" (HTTP {status})" if status != 200 else "")
    return BackendUnavailable(told + said, server=server)


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, min(float(retry_after or 1.0), 60.0))
    except ValueError:  # a date, which no TGI server sends
        return 1.0


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TOLD_CHARACTERS else f"{line[:_TOLD_CHARACTERS]}…"
