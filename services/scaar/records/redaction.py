"""Texts removed from records, or replaced by digests.

Every text is removed unless it is listed here as a name, so that a new field of an event is private
until somebody decides otherwise.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any, get_type_hints

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from scaar.core.records import RecordContent, RecordSummary
from scaar.wire.records import RecordMessage

_DIGEST_CHARACTERS = 16
_WHOLLY_NAMES = frozenset(
    {"Provenance", "EffectivePolicy", "Policy", "PolicyOverrides", "QuerySettings", "SettingOrigin"}
)
"""Messages without a text of a user, a model or a passage."""
_NAMES: Mapping[str, frozenset[str]] = {
    "AnswerRequest": frozenset({"index", "prompt_profile", "request_id"}),
    "Filter": frozenset({"field"}),
    "MetadataField": frozenset({"name"}),
    "GateJudged": frozenset({"gate", "policy"}),
    "Query": frozenset({"formulation"}),
    "PassagesRetrieved": frozenset({"index", "index_version", "excluded_ids"}),
    "RetrievedPassage": frozenset({"id"}),
    "Passage": frozenset({"id"}),
    "FilteredPassage": frozenset({"id"}),
    "AcceptedSentence": frozenset({"passage_ids", "supporting_passage_ids"}),
    "Degradation": frozenset({"stage", "reason"}),
    "ScoredCandidate": frozenset({"passage_id"}),
    "AnswerRecord": frozenset({"left_out"}),
}
"""Fields that are names; all other texts of a message are removed."""
_SUMMARY_NAMES = frozenset(
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
)
_SUMMARY_TEXTS = tuple(
    each.name
    for each in fields(RecordSummary)
    if get_type_hints(RecordSummary)[each.name] is str and each.name not in _SUMMARY_NAMES
)
_UNUSED = 1 << 20
"""Added to the number of a text, so that its bytes are those of an unknown field."""


def redacted(record: RecordMessage, content: RecordContent, key: bytes = b"") -> bytes:
    """Return the bytes of a record with the texts that ``content`` permits.

    ``key`` is the key of the digests, HMAC-SHA-256 of each text.
    """
    match content:
        case RecordContent.FULL:
            return record.SerializeToString()
        case RecordContent.NONE:
            # Much faster than a change of each of hundreds of messages.
            bare = _RECORD_WITHOUT_TEXTS.FromString(record.SerializeToString())
            bare.DiscardUnknownFields()
            less: bytes = bare.SerializeToString()
            return less
        case RecordContent.HASHED:
            hashed = RecordMessage()
            hashed.CopyFrom(record)
            _change(hashed, lambda text: digest(text, key))
            return hashed.SerializeToString()


def redacted_summary(
    summary: RecordSummary, content: RecordContent, key: bytes = b""
) -> RecordSummary:
    """Return the summary with the texts that ``content`` permits."""
    texts: dict[str, Any]
    match content:
        case RecordContent.FULL:
            texts = {}
        case RecordContent.NONE:
            texts = dict.fromkeys(_SUMMARY_TEXTS, "")
        case RecordContent.HASHED:
            texts = {name: digest(getattr(summary, name), key) for name in _SUMMARY_TEXTS}
    return replace(summary, **texts, content=content)


def digest(text: str, key: bytes) -> str:
    """Return the digest that stands for a text; empty for an empty text."""
    if not text:
        return ""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:_DIGEST_CHARACTERS]


def _change(message: Any, change: Callable[[str], str]) -> None:
    """Change every text of a message but its names."""
    texts = _texts_of(message.DESCRIPTOR)
    for field, value in message.ListFields():
        if field.name in texts:
            if field.message_type is not None:
                message.ClearField(field.name)
            elif field.is_repeated:
                value[:] = map(change, value)
            else:
                setattr(message, field.name, change(value))
        elif field.message_type is not None and not _is_map(field):
            for each in value if field.is_repeated else (value,):
                _change(each, change)


@cache
def _texts_of(kind: Any) -> frozenset[str]:
    """Return the fields of a message, by its descriptor, with texts that are no names.

    A map is one as a whole, unless its values are numbers.
    """
    if kind.name in _WHOLLY_NAMES:
        return frozenset()
    texts = {field.name for field in kind.fields if _may_have_text(field)}
    return frozenset(texts - _NAMES.get(kind.name, frozenset()))


def _may_have_text(field: FieldDescriptor) -> bool:
    if _is_map(field):
        value = field.message_type.fields_by_name["value"]
        return value.message_type is not None or _may_have_text(value)
    return field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _class_without_texts(kind: Any) -> Any:
    """Return a class of the message for which texts that are no names are unknown fields."""
    pool: Any = DescriptorPool()
    _add_without_texts(kind.file, pool, set())
    return GetMessageClass(pool.FindMessageTypeByName(kind.full_name))


def _add_without_texts(file: Any, pool: Any, added: set[str]) -> None:
    if file.name in added:
        return
    added.add(file.name)
    for each in file.dependencies:
        _add_without_texts(each, pool, added)
    changed = FileDescriptorProto()
    file.CopyToProto(changed)
    for message in changed.message_type:
        texts = _texts_of(file.message_types_by_name[message.name])
        for field in message.field:
            if field.name in texts:
                field.number += _UNUSED
    pool.Add(changed)


_RECORD_WITHOUT_TEXTS = _class_without_texts(RecordMessage.DESCRIPTOR)
