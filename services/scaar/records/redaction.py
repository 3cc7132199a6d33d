"""Texts removed from records, or replaced by digests.

Every text is removed unless it is listed here as a name, so that a new field of an event is private
until somebody decides otherwise.
"""

import enum
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from types import NoneType
from typing import Any, get_args, get_type_hints

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
            changed: AnswerRecord = _WITHOUT_TEXTS(record)
        case RecordContent.HASHED:
            changed = _Redactor(lambda text: digest(text, key))(record)
    return replace(changed, summary=replace(changed.summary, content=content))


def digest(text: str, key: bytes) -> str:
    """Return the digest that stands for a text; empty for an empty text."""
    if not text:
        return ""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:_DIGEST_CHARACTERS]


class _Redactor:
    """Changes every text of a value but its names, by a function compiled for each type."""

    def __init__(self, change: _Text) -> None:
        self._by_type: dict[type, Callable[[Any], Any]] = {
            str: change,
            tuple: lambda items: tuple([self(each) for each in items]),
            dict: lambda items: {key: self(each) for key, each in items.items()},
        }

    def __call__(self, value: Any) -> Any:
        kind = type(value)
        if (redact := self._by_type.get(kind)) is None:
            redact = self._by_type[kind] = self._of_type(kind)
        return redact(value)

    def _of_type(self, kind: type) -> Callable[[Any], Any]:
        if issubclass(kind, Mapping):
            return self._by_type[dict]
        if not is_dataclass(kind) or kind in _WHOLLY_NAMES:
            return _same
        names, hints = _NAMES.get(kind, frozenset()), get_type_hints(kind)
        values = ", ".join(
            f"value.{each.name}"
            if each.name in names or not _may_have_text(hints[each.name])
            else f"change(value.{each.name})"
            if hints[each.name] is str
            else f"value.{each.name} and redact(value.{each.name})"
            for each in fields(kind)
        )
        # Much faster than dataclasses.replace, of which a record needs hundreds.
        compiled: Callable[[Any], Any] = eval(
            f"lambda value: make({values})",
            {"make": kind, "redact": self, "change": self._by_type[str]},
        )
        return compiled


def _may_have_text(hint: Any) -> bool:
    """Return whether a value of a type can have a text, unlike numbers, enums and lists of them."""
    if isinstance(hint, type) and not get_args(hint):
        return not issubclass(hint, int | float | enum.Enum | NoneType)
    parts = [each for each in get_args(hint) if each is not ...]
    return not parts or any(map(_may_have_text, parts))


def _same(value: Any) -> Any:
    return value


_WITHOUT_TEXTS = _Redactor(lambda text: "")
