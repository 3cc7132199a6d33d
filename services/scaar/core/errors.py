"""Errors that scaar reports, the same embedded and over gRPC.

    ScaarError
    ├── InvalidRequest       a field of the request is invalid: its name and limit
    │   └── PromptTooLong    the prompt does not fit into the model's context
    ├── Unauthenticated      the caller is not authenticated
    ├── PermissionDenied     the caller is not authorised
    ├── NotFound             an index, a model or a policy does not exist
    ├── AlreadyExists        the name is in use
    ├── WrongState           the operation requires another state
    ├── CapabilityMissing    the engine lacks a capability that the policy needs
    │   └── PolicyMismatch   a policy was tuned on another model, scorer or kind of index
    ├── DataCorrupt          an index or a model file is damaged
    ├── Overloaded           no capacity now; the retry delay
    ├── DeadlineExceeded     the caller's deadline has expired; the stage
    ├── BackendUnavailable   a service or server does not respond
    └── StreamIncomplete     a stream ended before its end message

Foreign exceptions become one of these in the adapter that calls the library.
"""

import copyreg
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self


class ScaarError(Exception):
    """Base class of all errors that scaar reports."""

    reason: ClassVar[str] = "INTERNAL"
    """UPPER_SNAKE and stable, so that clients can compare it."""

    def __init__(self, message: str, *, detail: str = "", **metadata: str) -> None:
        super().__init__(f"{message}: {detail}" if detail else message)
        self.message = message
        """The text for the caller, on any machine."""
        self.detail = detail
        """The text for the log and this machine's terminal only: paths, addresses, users, and
        messages of other software. A status never contains it."""
        self.metadata: Mapping[str, str] = metadata

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the error as it is: its arguments are not those of its class."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Violation:
    """A problem with one field of a request, named by its path in the contract."""

    field: str
    description: str

    def __str__(self) -> str:
        return f"{self.field}: {self.description}"


def shown(value: float) -> str:
    """Return a number as messages have it, also an integer beyond all floats."""
    try:
        return f"{value:g}"
    except OverflowError:
        return "an integer of more than 300 digits"


class InvalidRequest(ScaarError):
    """Fields of the request are invalid. Raised before any work."""

    reason = "INVALID_REQUEST"

    def __init__(self, violations: Sequence[Violation], *, detail: str = "") -> None:
        if not violations:
            raise ValueError("an invalid request has at least one violation")
        super().__init__("; ".join(str(violation) for violation in violations), detail=detail)
        self.violations = tuple(violations)

    @classmethod
    def of(cls, field: str, description: str, *, detail: str = "") -> Self:
        """Return the error for a single field."""
        return cls((Violation(field, description),), detail=detail)


class PromptTooLong(InvalidRequest):
    """The prompt leaves the model no room to write. A prompt with fewer passages may fit."""

    reason = "PROMPT_TOO_LONG"


class Unauthenticated(ScaarError):
    """The caller is not authenticated. Retrying the same call does not help."""

    reason = "UNAUTHENTICATED"


class PermissionDenied(ScaarError):
    """The caller is authenticated, but not authorised for the operation."""

    reason = "PERMISSION_DENIED"


class NotFound(ScaarError):
    """No object has this name."""

    reason = "NOT_FOUND"

    @classmethod
    def of_passage(cls, index: str, passage_id: str) -> "NotFound":
        """Return the error for a passage that an index does not have."""
        text = f"no passage {passage_id!r} in the index {index!r}"
        return cls(text, index=index, passage=passage_id)


class AlreadyExists(ScaarError):
    """An object with this name exists, and is left unchanged."""

    reason = "ALREADY_EXISTS"


class WrongState(ScaarError):
    """The operation requires another state, such as an evaluation that has succeeded."""

    reason = "WRONG_STATE"


class CapabilityMissing(ScaarError):
    """The engine lacks a requested capability. Retrying does not help."""

    reason = "CAPABILITY_MISSING"


class PolicyMismatch(CapabilityMissing):
    """The policy was tuned on another model, scorer, or kind of index than those in use."""

    reason = "POLICY_MISMATCH"


class ScorerMismatch(CapabilityMissing):
    """The scorer is for texts of another kind than those of the model or of the index."""

    reason = "SCORER_MISMATCH"


class DataCorrupt(ScaarError):
    """Stored data is damaged or incomplete."""

    reason = "DATA_CORRUPT"


class Overloaded(ScaarError):
    """There is no capacity for the call now."""

    reason = "OVERLOADED"

    def __init__(self, message: str, *, retry_after_s: float = 1.0, **metadata: str) -> None:
        super().__init__(message, **metadata)
        self.retry_after_s = retry_after_s


class DeadlineExceeded(ScaarError):
    """The deadline of the call has expired."""

    reason = "DEADLINE_EXCEEDED"


class BackendUnavailable(ScaarError):
    """A service or server does not respond. The call may be retried.

    ``retry_after_s`` is the remaining time of an open circuit breaker, in seconds, if there is one.
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
