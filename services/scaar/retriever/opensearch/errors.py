"""Translation of OpenSearch's errors into conditions of the core.

OpenSearch's error messages may quote passages, so only the type of an error is passed on.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    Overloaded,
    ScaarError,
)

_READ_ONLY = "cluster_block_exception"
_CLOSED = "index_closed_exception"
_TOO_MANY_WORDS = frozenset({"too_many_clauses", "too_many_nested_clauses"})
_RETRY_AFTER_S = 1.0


def kind_of(info: object) -> str:
    """Return the type of an error's innermost cause, empty for no error."""
    error = info.get("error", info) if isinstance(info, Mapping) else None
    if not isinstance(error, Mapping):
        return ""
    return _innermost(error)


def condition(status: object, kind: str, action: str) -> ScaarError:
    """Return the condition for a response's status and error type.

    ``action`` is an infinitive such as "search the index 'a'", for the message.
    """
    suffix = f" ({kind})" if kind else ""
    if kind in _TOO_MANY_WORDS:
        limit = "indices.query.bool.max_clause_count"
        text = f"must not have more distinct words than OpenSearch allows ({limit})"
        return InvalidRequest.of("queries", text)
    if kind == _READ_ONLY:
        how = "free space on its disk or remove index.blocks, then try again"
        return CapabilityMissing(f"OpenSearch is read-only and cannot {action}: {how}")
    if kind == _CLOSED:
        how = "open the index on OpenSearch, or rebuild it with --replace"
        return CapabilityMissing(f"OpenSearch cannot {action}, which is closed: {how}")
    match status:
        case 401:
            how = "correct SCAAR_RETRIEVER_OPENSEARCH_USER and its password"
            return CapabilityMissing(f"OpenSearch rejects the user or the password: {how}")
        case 403:
            how = "grant the user the permission"
            return CapabilityMissing(
                f"OpenSearch does not allow this user to {action}{suffix}: {how}"
            )
        case 404:
            return NotFound(f"OpenSearch cannot {action}: not found{suffix}")
        case 429:
            text = f"OpenSearch is overloaded and cannot {action} now{suffix}"
            return Overloaded(text, retry_after_s=_RETRY_AFTER_S)
        case int() if status >= 500:
            return BackendUnavailable(f"OpenSearch cannot {action} now: status {status}{suffix}")
        case _ if kind == "resource_already_exists_exception":
            return AlreadyExists(f"OpenSearch cannot {action}: the index exists already")
        case _:
            return ScaarError(f"OpenSearch refused to {action}: status {status}{suffix}")


def _innermost(error: Mapping[str, Any]) -> str:
    """Return the type of the innermost cause, in any of the forms that OpenSearch reports."""
    shards: Sequence[Mapping[str, Any]] = error.get("failed_shards") or ({},)
    for inner in (error.get("caused_by"), shards[0].get("reason")):
        if isinstance(inner, Mapping) and (kind := _innermost(inner)):
            return kind
    return str(error.get("type", ""))
