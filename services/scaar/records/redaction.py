"""Texts removed from records, or replaced by digests.

Every text is removed unless it is listed here as a name, so that a new field of an event is private
until somebody decides otherwise.
"""

import enum
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from scaar.core import types
from scaar.core.records import AnswerRecord, RecordContent, RecordSummary

_Text = Callable[[str], str]

_DIGEST_CHARACTERS = 16
_WHOLLY_NAMES = frozenset(
    {types.Provenance, types.EffectivePolicy, types.PolicyRequest, types.QuerySettings}
)
"""Types without a text of a user, a model or a passage."""
_NAMES: Mapping[type, frozenset[str]] = {
    types.AnswerRequest: frozenset({"index", "prompt_profile", "request_id"}),
    types.Filter: frozenset({"field"}),
    types.MetadataField: frozenset({"name"}),
    types.GateJudged: frozenset({"gate", "policy", "features"}),
    types.SentenceJudged: frozenset({"signals"}),
    types.Query: frozenset({"formulation"}),
    types.PassagesRetrieved: frozenset({"index", "index_version", "excluded_ids"}),
    types.RetrievedPassage: frozenset({"id"}),
    types.Passage: frozenset({"id"}),
    types.FilteredPassage: frozenset({"id"}),
    types.AcceptedSentence: frozenset({"passage_ids"}),
    types.Degradation: frozenset({"stage", "reason"}),
    types.ScoredCandidate: frozenset({"passage_id"}),
    RecordSummary: frozenset(
        {
            "id",
            "request_id",
            "tenant",
            "created_at",
            "policy",
            "artefact_digest",
            "model",
            "index",
            "failure",
            "trace_id",
        }
    ),
    AnswerRecord: frozenset({"left_out"}),
}
"""Fields that are names; all other texts of a type are removed."""


def redacted(record: AnswerRecord, content: RecordContent, key: bytes = b"") -> AnswerRecord:
    """Return the record with the texts that ``content`` permits.

    ``key`` is the key of the digests, HMAC-SHA-256 of each text.
    """
    match content:
        case RecordContent.FULL:
            return record
        case RecordContent.NONE:
            changed: AnswerRecord = _redact(record, _nothing)
        case RecordContent.HASHED:
            changed = _redact(record, lambda text: digest(text, key))
    return replace(changed, summary=replace(changed.summary, content=content))


def digest(text: str, key: bytes) -> str:
    """Return the digest that stands for a text; empty for an empty text."""
    if not text:
        return ""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:_DIGEST_CHARACTERS]


def _nothing(text: str) -> str:
    return ""


def _redact(value: Any, change: _Text) -> Any:
    if isinstance(value, str):
        return value if isinstance(value, enum.Enum) else change(value)
    if isinstance(value, tuple):
        return tuple([_redact(each, change) for each in value])
    if isinstance(value, Mapping):
        return {key: _redact(each, change) for key, each in value.items()}
    if type(value) in _WHOLLY_NAMES or not is_dataclass(value):
        return value
    given: Any = value
    private = _private_fields(given.__class__)
    changed = {name: _redact(getattr(given, name), change) for name in private}
    return replace(given, **changed) if changed else given


@cache
def _private_fields(kind: Any) -> tuple[str, ...]:
    """Return the fields that can hold texts and are no names."""
    names = _NAMES.get(kind, frozenset())
    plain = {"int", "float", "bool", "int | None", "float | None", "bool | None"}
    return tuple(
        each.name for each in fields(kind) if each.name not in names and _type(each) not in plain
    )


def _type(field: Any) -> str:
    return field.type if isinstance(field.type, str) else getattr(field.type, "__name__", "")
