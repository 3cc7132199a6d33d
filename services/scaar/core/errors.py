"""The conditions that scaar reports, the same embedded and over gRPC.

    ScaarError
    ├── InvalidRequest       a field of the request is wrong: which, and the limit
    │   └── PromptTooLong    the model has no room for the prompt
    ├── Unauthenticated      who calls is not known
    ├── PermissionDenied     who calls may not do that
    ├── NotFound             an index, a model or a policy that is not there
    ├── AlreadyExists        a thing of that name is there and would be overwritten
    ├── WrongState           what is asked for has another state than that needs
    ├── CapabilityMissing    the engine cannot give what the policy needs
    ├── DataCorrupt          an index or a model file that does not hold together
    ├── Overloaded           no room now; when to come again
    ├── DeadlineExceeded     the caller's time is used up, and at which stage
    ├── BackendUnavailable   a service or server that does not answer
    └── StreamIncomplete     an answer that ended before its end

Foreign exceptions become one of these in the adapter that calls the library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self


class ScaarError(Exception):
    """The root of every condition that scaar reports."""

    reason: ClassVar[str] = "INTERNAL"
    """UPPER_SNAKE, stable: clients may compare it."""

    def __init__(self, message: str, *, detail: str = "", **metadata: str) -> None:
        super().__init__(f"{message}: {detail}" if detail else message)
        self.message = message
        """What a caller may read, on whatever machine."""
        self.detail = detail
        """What only the log and this machine's terminal may show: paths, addresses, users, and
        the words of other software. It is no part of a status."""
        self.metadata: Mapping[str, str] = metadata


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong with one field of a request, its name dotted as in the contract."""

    field: str
    description: str

    def __str__(self) -> str:
        return f"{self.field}: {self.description}"


class InvalidRequest(ScaarError):
    """Fields of the request are wrong. Raised before any work is done."""

    reason = "INVALID_REQUEST"

    def __init__(self, violations: Sequence[Violation]) -> None:
        if not violations:
            raise ValueError("an invalid request has at least one violation")
        super().__init__("; ".join(str(violation) for violation in violations))
        self.violations = tuple(violations)

    @classmethod
    def of(cls, field: str, description: str) -> Self:
        """The error for a single field."""
        return cls((Violation(field, description),))


class PromptTooLong(InvalidRequest):
    """A prompt that leaves the model no room to write; with fewer passages it may fit."""

    reason = "PROMPT_TOO_LONG"


class Unauthenticated(ScaarError):
    """The caller has not proved who they are; the same call will not succeed."""

    reason = "UNAUTHENTICATED"


class PermissionDenied(ScaarError):
    """The caller is known, and may not do what was asked."""

    reason = "PERMISSION_DENIED"


class NotFound(ScaarError):
    """There is nothing of that name."""

    reason = "NOT_FOUND"


class AlreadyExists(ScaarError):
    """There is something of that name already, and it is kept as it is."""

    reason = "ALREADY_EXISTS"


class WrongState(ScaarError):
    """What is asked for has ended, or has not yet."""

    reason = "WRONG_STATE"


class CapabilityMissing(ScaarError):
    """The engine behind a port cannot give what was asked, and will not be able to."""

    reason = "CAPABILITY_MISSING"


class DataCorrupt(ScaarError):
    """Stored data is damaged or incomplete."""

    reason = "DATA_CORRUPT"


class Overloaded(ScaarError):
    """There is no room for the call now."""

    reason = "OVERLOADED"

    def __init__(self, message: str, *, retry_after_s: float = 1.0, **metadata: str) -> None:
        super().__init__(message, **metadata)
        self.retry_after_s = retry_after_s


class DeadlineExceeded(ScaarError):
    """The time given for the call is used up."""

    reason = "DEADLINE_EXCEEDED"


class BackendUnavailable(ScaarError):
    """A service or server does not answer; the call may be tried again.

    ``retry_after_s`` is when it is asked again, where it is not asked for a while.
    """

    reason = "BACKEND_UNAVAILABLE"

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, **metadata: str
    ) -> None:
        super().__init__(message, **metadata)
        self.retry_after_s = retry_after_s


class StreamIncomplete(ScaarError):
    """A stream ended before its end message."""

    reason = "STREAM_INCOMPLETE"
