"""The HTTP statuses of errors."""

from scaar.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    ScaarError,
    Unauthenticated,
    WrongState,
)

_STATUSES: tuple[tuple[type[ScaarError], int], ...] = (
    (InvalidRequest, 400),
    (Unauthenticated, 401),
    (PermissionDenied, 403),
    (NotFound, 404),
    (WrongState, 409),
    (Overloaded, 429),
    (BackendUnavailable, 503),
    (DeadlineExceeded, 504),
)


def status_of(error: ScaarError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
