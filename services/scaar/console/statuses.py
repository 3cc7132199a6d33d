"""The HTTP statuses of errors."""

from collections.abc import Mapping
from types import MappingProxyType

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

_STATUSES: Mapping[type[ScaarError], int] = MappingProxyType(
    {
        InvalidRequest: 400,
        CapabilityMissing: 400,
        Unauthenticated: 401,
        PermissionDenied: 403,
        NotFound: 404,
        AlreadyExists: 409,
        # The gateway has 400, because OpenAI's clients repeat 409.
        WrongState: 409,
        Overloaded: 429,
        DataCorrupt: 500,
        StreamIncomplete: 502,
        BackendUnavailable: 503,
        DeadlineExceeded: 504,
        ScaarError: 500,
    }
)


def status_of(error: ScaarError) -> int:
    """Return the HTTP status of an error: that of its class or of the nearest base class."""
    return next(_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES)
