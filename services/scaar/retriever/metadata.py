"""Metadata fields that an index declares, and the limits on their values in passages."""

from collections.abc import Iterator, Sequence

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.filters import FIELD_RULE, is_field_name, wrong_values
from scaar.core.types import MetadataField

MAX_FIELDS = 16
MAX_VALUES = 32

Json = dict[str, list[str]]


def check_fields(fields: Sequence[str]) -> tuple[str, ...]:
    """Return the declared fields, sorted.

    Raises:
        InvalidRequest: naming every invalid field.
    """
    if len(fields) > MAX_FIELDS:
        limit = f"must be at most {MAX_FIELDS} fields, not {len(fields):,}"
        raise InvalidRequest.of("metadata_fields", limit)
    wrong = []
    for position, name in enumerate(fields):
        place = f"metadata_fields[{position}]"
        if not is_field_name(name):
            wrong.append(Violation(place, f"{FIELD_RULE}, not {name[:80]!r}"))
        elif name in fields[:position]:
            wrong.append(Violation(place, f"{name!r} is given twice"))
    if wrong:
        raise InvalidRequest(wrong)
    return tuple(sorted(fields))


def unchanged_fields(
    index: str, fields: Sequence[str], *, declared: Sequence[str]
) -> tuple[str, ...]:
    """Return the fields of an existing index, if ``declared`` is empty or the same.

    Raises:
        InvalidRequest: the fields differ; the error names the difference.
    """
    more = sorted(set(declared) - set(fields))
    fewer = sorted(set(fields) - set(declared))
    if declared and (more or fewer):
        stored = ", ".join(fields) or "none"
        differs = "; ".join(
            f"{which} {', '.join(names)}"
            for which, names in (("unknown:", more), ("missing:", fewer))
            if names
        )
        how = "declare the same fields or none, or rebuild the index with --replace"
        text = f"must equal those of the index {index!r} ({stored}): {differs}; {how}"
        raise InvalidRequest.of("metadata_fields", text)
    return tuple(fields)


def metadata_violations(metadata: Sequence[MetadataField]) -> Iterator[Violation]:
    """Yield the violations in a passage's fields that do not depend on the index."""
    if len(metadata) > MAX_FIELDS:
        limit = f"must have at most {MAX_FIELDS} fields, not {len(metadata):,}"
        yield Violation("metadata", limit)
        return
    seen: set[str] = set()
    for each in metadata:
        if not is_field_name(each.name):
            yield Violation("metadata", f"{FIELD_RULE} as a field's name, not {each.name[:80]!r}")
        elif each.name in seen:
            yield Violation(f"metadata.{each.name}", "is given twice")
        else:
            yield from wrong_values(f"metadata.{each.name}", each.values, most=MAX_VALUES)
        seen.add(each.name)


def undeclared_fields(
    passage_id: str, metadata: Sequence[MetadataField], declared: Sequence[str]
) -> Iterator[Violation]:
    """Yield a violation for each field of a passage that its index does not declare."""
    known = ", ".join(declared) or "none"
    for each in metadata:
        if each.name not in declared:
            text = f"is not a declared field of the index ({known}), in passage {passage_id!r}"
            yield Violation(f"metadata.{each.name}", text)


def metadata_to_json(metadata: Sequence[MetadataField]) -> Json:
    """Return the fields as stored with a passage."""
    return {each.name: list(each.values) for each in metadata}


def metadata_from_json(stored: Json) -> tuple[MetadataField, ...]:
    """Return the fields of a passage from their stored form."""
    return tuple(MetadataField(name, tuple(values)) for name, values in stored.items())
