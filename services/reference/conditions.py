"""The table of errors: reason, status, and what it means."""

import inspect

from reference.markdown import plain, table
from scaar.core.errors import BackendUnavailable, InvalidRequest, Overloaded, ScaarError
from scaar.wire.status import STATUS_CODES

_INTERNAL = "An error of the service's own; what was not foreseen is told in its log alone."


def errors() -> str:
    """Every condition of the status table, by its reason."""
    rows = [
        [f"`{kind.reason}`", f"`{code.name}`", _details(kind), _meaning(kind), f"`{kind.__name__}`"]
        for kind, code in STATUS_CODES.items()
    ]
    return table(["reason", "status", "beside ErrorInfo", "means", "in Python"], rows)


def _details(kind: type[ScaarError]) -> str:
    if issubclass(kind, InvalidRequest):
        return "`BadRequest`"
    if issubclass(kind, BackendUnavailable):
        return "`RetryInfo` where it is known"
    return "`RetryInfo`" if issubclass(kind, Overloaded) else ""


def _meaning(kind: type[ScaarError]) -> str:
    if kind is ScaarError:
        return _INTERNAL
    return plain((inspect.getdoc(kind) or "").partition("\n")[0])
