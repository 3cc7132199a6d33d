"""Filters of records as conditions on their columns."""

from collections.abc import Iterator
from datetime import UTC, datetime

import sqlalchemy as sa

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.records import MAX_TEXT_CHARACTERS, RecordFilter
from scaar.core.validation import check_text
from scaar.records.store.rows import milliseconds
from scaar.records.store.tables import FEEDBACK, RECORDS

_TEXTS = ("tenant", "policy", "index", "request_id", "text")


def check_filter(records: RecordFilter) -> None:
    """Accept a valid filter.

    Raises:
        InvalidRequest: naming every wrong field.
    """
    wrong = [
        Violation(f"filter.{name}", "must be a time as in RFC 3339, such as 2026-03-01T00:00:00Z")
        for name in ("since", "until")
        if _is_wrong_time(getattr(records, name))
    ]
    for name in _TEXTS:
        # A database ends the pattern of a search at the character U+0000.
        if (value := getattr(records, name)).strip():
            wrong += check_text(f"filter.{name}", value)
    if len(records.text) > MAX_TEXT_CHARACTERS:
        text = f"must have at most {MAX_TEXT_CHARACTERS} characters, not {len(records.text):,}"
        wrong.append(Violation("filter.text", text))
    if wrong:
        raise InvalidRequest(wrong)


def conditions_of(records: RecordFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Yield the conditions of a valid filter on the columns of records and feedback."""
    columns = RECORDS.c
    for name in ("tenant", "policy", "index", "request_id"):
        if value := getattr(records, name):
            yield columns[name] == value
    if records.since:
        yield columns.created_ms >= _ms(records.since)
    if records.until:
        yield columns.created_ms < _ms(records.until)
    for wanted, condition in (
        (records.retrieved, columns.retrievals > 0),
        (records.degraded, columns.degraded_sentences > 0),
        (records.failed, columns.failure != ""),
        (records.has_feedback, FEEDBACK.c.verdict.is_not(None)),
    ):
        if wanted is not None:
            yield condition if wanted else sa.not_(condition)
    if records.kind is not None:
        yield columns.kind == records.kind.value
    if records.verdict is not None:
        yield FEEDBACK.c.verdict == records.verdict.value
    if records.text:
        yield sa.or_(
            columns.question.icontains(records.text, autoescape=True),
            columns.answer.icontains(records.text, autoescape=True),
        )


def _is_wrong_time(text: str) -> bool:
    try:
        if text:
            _ms(text)
    except (ValueError, OverflowError):
        return True
    return False


def _ms(text: str) -> int:
    time = datetime.fromisoformat(text)
    return milliseconds(time if time.tzinfo else time.replace(tzinfo=UTC))
