"""Records as rows."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from scaar.core.records import AnswerRecord, Feedback, RecordContent, RecordSummary, Verdict
from scaar.core.types import RequestKind
from scaar.records.store.tables import FEEDBACK, RECORDS
from scaar.wire.records import record_from_bytes

_FAST = 1
"""Level of the compression: the fastest one, since orchestrators compress every record."""
_SAME = tuple(
    each.name
    for each in fields(RecordSummary)
    if each.name not in ("created_at", "content", "feedback", "kind")
)
COLUMNS = (
    RECORDS,
    FEEDBACK.c.verdict,
    FEEDBACK.c.comment,
    FEEDBACK.c.created_ms.label("verdict_ms"),
)
"""The columns of a summary, from the records joined with their feedback."""


@dataclass(frozen=True, slots=True)
class Row:
    """A record as it is written: its columns, and its content in bytes."""

    columns: Mapping[str, Any]
    content: bytes

    @property
    def size(self) -> int:
        """The size of the record, in bytes."""
        size: int = self.columns["size"]
        return size


def row_of(summary: RecordSummary, content: bytes) -> Row:
    """Return the row of a record: of its summary, and the bytes of its message."""
    content = zlib.compress(content, _FAST)
    columns: dict[str, Any] = {name: getattr(summary, name) for name in _SAME}
    columns["created_ms"] = milliseconds(datetime.fromisoformat(summary.created_at))
    columns["content"] = summary.content.value
    columns["kind"] = summary.kind.value
    columns["size"] = len(content) + len(summary.question) + len(summary.answer)
    return Row(columns, content)


def summary_of(row: Mapping[str, Any]) -> RecordSummary:
    """Return the summary in a row of ``COLUMNS``."""
    feedback = None
    if row["verdict"] is not None:
        given = time_of(row["verdict_ms"])
        feedback = Feedback(Verdict(row["verdict"]), row["comment"], given)
    return RecordSummary(
        **{name: row[name] for name in _SAME},
        created_at=time_of(row["created_ms"]),
        content=RecordContent(row["content"]),
        feedback=feedback,
        kind=RequestKind(row["kind"]),
    )


def record_of(row: Mapping[str, Any], content: bytes) -> AnswerRecord:
    """Return the record of a row and its content."""
    return record_from_bytes(zlib.decompress(content), summary_of(row))


def milliseconds(time: datetime) -> int:
    """Return a time in milliseconds since 1970."""
    return round(time.timestamp() * 1000)


def time_of(ms: int) -> str:
    """Return a time in milliseconds since 1970 as RFC 3339 in UTC."""
    time = datetime.fromtimestamp(ms / 1000, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
