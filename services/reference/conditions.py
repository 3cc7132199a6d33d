"""The table of errors: reason, status and meaning."""

import inspect

from reference.markdown import plain, table
from scaar.core.errors import BackendUnavailable, InvalidRequest, Overloaded, ScaarError
from scaar.wire.status import STATUS_CODES

_INTERNAL = "An internal error of the service. Details of unexpected errors are only in its log."


def errors() -> str:
    """Return one row for each error of the status table."""
    rows = [
        [f"`{kind.reason}`", f"`{code.name}`", _details(kind), _meaning(kind), f"`{kind.__name__}`"]
        for kind, code in STATUS_CODES.items()
    ]
    return table(["reason", "status", "details beside ErrorInfo", "meaning", "Python class"], rows)


def _details(kind: type[ScaarError]) -> str:
    if issubclass(kind, InvalidRequest):
        return "`BadRequest`"
    if issubclass(kind, BackendUnavailable):
        return "`RetryInfo` if known"
    return "`RetryInfo`" if issubclass(kind, Overloaded) else ""


def _meaning(kind: type[ScaarError]) -> str:
    if kind is ScaarError:
        return _INTERNAL
    return plain((inspect.getdoc(kind) or "").partition("\n")[0])
