"""Metadata fields of passages, filters and exclusions of requests: validation and matching."""

import re
from collections.abc import Iterator, Sequence

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import Filter, MetadataField

MAX_VALUE_CHARACTERS = 256
MAX_FILTERS = 16
MAX_FILTER_VALUES = 256
MAX_VALUES_TOGETHER = 1_024
MAX_CHARACTERS_TOGETHER = 32_768
MAX_EXCLUDED = 1_024
MAX_ID_CHARACTERS = 512
MAX_QUERIES_SCORED = 8
"""Maximum number of queries of a request with ``score_all``."""

FIELD_RULE = "must be a letter a to z, then at most 63 of a-z, 0-9 and '_'"

_FIELD = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NOT_IN_VALUES = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_field_name(name: str) -> bool:
    """Return whether the name is valid for a field."""
    return _FIELD.fullmatch(name) is not None


def wrong_values(field: str, values: Sequence[str], *, most: int) -> Iterator[Violation]:
    """Yield the violations of a field's values; ``field`` is its path in the request."""
    if not 1 <= len(values) <= most:
        yield Violation(field, f"must have 1 to {most} values, not {len(values):,}")
        return
    yield from _wrong_texts(field, values, longest=MAX_VALUE_CHARACTERS)


def _wrong_texts(field: str, values: Sequence[str], *, longest: int) -> Iterator[Violation]:
    for position, value in enumerate(values):
        place = f"{field}[{position}]"
        if not 1 <= len(value) <= longest:
            yield Violation(place, f"must have 1 to {longest} characters, not {len(value):,}")
        elif found := _NOT_IN_VALUES.search(value):
            code = f"U+{ord(found[0]):04X}"
            yield Violation(place, f"holds the control character {code} at {found.start()}")


def wrong_filters(filters: Sequence[Filter]) -> list[Violation]:
    """Return the violations of a request's filters that do not depend on the index."""
    if len(filters) > MAX_FILTERS:
        return [Violation("filters", f"must be at most {MAX_FILTERS}, not {len(filters):,}")]
    values = [value for each in filters for value in each.values]
    if len(values) > MAX_VALUES_TOGETHER:
        limit = f"must have at most {MAX_VALUES_TOGETHER:,} values together, not {len(values):,}"
        return [Violation("filters", limit)]
    if (characters := sum(map(len, values))) > MAX_CHARACTERS_TOGETHER:
        limit = f"must have at most {MAX_CHARACTERS_TOGETHER:,} characters in all values together"
        return [Violation("filters", f"{limit}, not {characters:,}")]
    wrong = []
    for position, each in enumerate(filters):
        place = f"filters[{position}]"
        if not is_field_name(each.field):
            wrong.append(Violation(f"{place}.field", f"{FIELD_RULE}, not {each.field[:80]!r}"))
        wrong += wrong_values(f"{place}.values", each.values, most=MAX_FILTER_VALUES)
    return wrong


def wrong_excluded(ids: Sequence[str]) -> list[Violation]:
    """Return the violations of the ids that a request excludes."""
    field = "excluded_ids"
    if len(ids) > MAX_EXCLUDED:
        return [Violation(field, f"must be at most {MAX_EXCLUDED:,}, not {len(ids):,}")]
    if (characters := sum(map(len, ids))) > MAX_CHARACTERS_TOGETHER:
        limit = f"must have at most {MAX_CHARACTERS_TOGETHER:,} characters together"
        return [Violation(field, f"{limit}, not {characters:,}")]
    return list(_wrong_texts(field, ids, longest=MAX_ID_CHARACTERS))


def wrong_scored(queries: Sequence[str], *, score_all: bool) -> list[Violation]:
    """Return the violation of a request that scores every passage under too many queries."""
    if not score_all or len(queries) <= MAX_QUERIES_SCORED:
        return []
    limit = f"must be at most {MAX_QUERIES_SCORED} with score_all, not {len(queries):,}"
    return [Violation("queries", limit)]


def newest_excluded(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the newest ids that a request may exclude; ``ids`` and the result are oldest first."""
    newest, characters = list[str](), 0
    for each in reversed(ids):
        characters += len(each)
        if len(newest) == MAX_EXCLUDED or characters > MAX_CHARACTERS_TOGETHER:
            break
        newest.append(each)
    return tuple(reversed(newest))


def check_declared(filters: Sequence[Filter], declared: Sequence[str], *, index: str) -> None:
    """Pass filters on fields that the index declares.

    Raises:
        InvalidRequest: naming each undeclared field, and the declared ones.
    """
    known = ", ".join(declared) or "none"
    wrong = [
        Violation(
            f"filters[{position}].field",
            f"the index {index!r} declares no {each.field!r} (its fields: {known})",
        )
        for position, each in enumerate(filters)
        if each.field not in declared
    ]
    if wrong:
        raise InvalidRequest(wrong)


def fits(metadata: Sequence[MetadataField], filters: Sequence[Filter]) -> bool:
    """Return whether a passage with these fields matches every filter."""
    carried = {(each.name, value) for each in metadata for value in each.values}
    return all(any((each.field, value) in carried for value in each.values) for each in filters)
