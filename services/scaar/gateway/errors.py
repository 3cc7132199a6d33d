"""Errors as HTTP statuses and as OpenAI's error object."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi.responses import JSONResponse

from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    CapabilityMissing,
    DataCorrupt,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    ScaarError,
    StreamIncomplete,
    Unauthenticated,
    WrongState,
)

STATUSES: Mapping[type[ScaarError], int] = MappingProxyType(
    {
        InvalidRequest: 400,
        Unauthenticated: 401,
        PermissionDenied: 403,
        NotFound: 404,
        AlreadyExists: 409,
        # OpenAI's clients repeat 409 and 5xx; neither of these would help the next time.
        WrongState: 400,
        CapabilityMissing: 400,
        DataCorrupt: 500,
        Overloaded: 429,
        DeadlineExceeded: 504,
        BackendUnavailable: 503,
        StreamIncomplete: 502,
        ScaarError: 500,
    }
)
"""HTTP status of each error."""
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    409: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}


def status_of(error: ScaarError) -> int:
    """Return the HTTP status of an error."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def error_object(error: ScaarError) -> dict[str, Any]:
    """Return the error as OpenAI's error object. ``code`` is the stable reason of the contract."""
    return {
        "message": error.message,
        "type": _TYPES.get(status_of(error), "server_error"),
        "param": _param(error),
        "code": error.reason,
    }


def _param(error: ScaarError) -> str | None:
    """Return the first field of the request that the error names; None if it is the request."""
    if isinstance(error, InvalidRequest):
        field = error.violations[0].field
        return None if field == "request" else field
    return error.metadata.get("field")


def error_response(error: ScaarError) -> JSONResponse:
    """Return the response for an error, with ``Retry-After`` if the delay is known."""
    headers = {}
    delay_s = getattr(error, "retry_after_s", None)
    if delay_s is not None:
        # Whole seconds for every client; OpenAI's clients read the milliseconds first.
        headers["retry-after"] = str(max(1, math.ceil(delay_s)))
        headers["retry-after-ms"] = str(max(1, math.ceil(delay_s * 1000)))
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = "Bearer"
    return JSONResponse({"error": error_object(error)}, status_of(error), headers)
