"""Records of a data set's file, with typed access to fields and errors that name them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from scaar.core.errors import InvalidRequest
from scaar.core.prompts.untrusted import one_line

MAX_SHOWN = 60
"""Maximum number of characters of an invalid value that an error repeats."""


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object, a CSV row, or a part of either; ``place`` is file and number, from 1."""

    place: str
    fields: Mapping[str, object]

    def __contains__(self, field: str) -> bool:
        return self.fields.get(field) is not None

    def text(self, field: str) -> str:
        """Return the text of a field on one line.

        Raises:
            InvalidRequest: the field is missing, no string, or empty.
        """
        value = self._present(field)
        if not isinstance(value, str):
            self.wrong(field, f"must be a string, not {_shown(value)}")
        if not (text := one_line(value)):
            self.wrong(field, "must not be empty")
        return text

    def identity(self, field: str) -> str:
        """Return a field as an id: a text or a whole number."""
        value = self._present(field)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(field)

    def label(self, field: str) -> str:
        """Return a text that may be missing or empty; numbers and booleans are converted."""
        value = self.fields.get(field)
        if value is None:
            return ""
        if isinstance(value, str | int | float):
            return one_line(str(value))
        self.wrong(field, f"must be a string, not {_shown(value)}")

    def truth(self, field: str) -> bool:
        """Return the boolean of a field.

        Raises:
            InvalidRequest: the field is missing, or neither true nor false.
        """
        value = self._present(field)
        if not isinstance(value, bool):
            self.wrong(field, f"must be true or false, not {_shown(value)}")
        return value

    def number(self, field: str) -> int:
        """Return the whole number of a field, at least 0, from a number or its digits."""
        value = self._present(field)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.wrong(field, f"must be a whole number from 0, not {_shown(value)}")
        return value

    def texts(self, field: str, *, may_be_empty: bool = False) -> tuple[str, ...]:
        """Return the distinct non-empty strings of a field, each on one line.

        Raises:
            InvalidRequest: the field is missing, no list of strings, or without a string.
        """
        values = self.values(field)
        for value in values:
            if not isinstance(value, str):
                self.wrong(field, f"must be a list of strings, not of {_shown(value)}")
        texts = distinct(one_line(value) for value in values if isinstance(value, str))
        if not texts and not may_be_empty:
            self.wrong(field, "must have at least one string that is not empty")
        return texts

    def pairs(self, field: str) -> tuple[tuple[object, object], ...]:
        """Return the pairs of a field: a list of lists of two."""
        values = self.values(field)
        for value in values:
            if not isinstance(value, list) or len(value) != 2:
                self.wrong(field, f"must be a list of pairs, not of {_shown(value)}")
        return tuple((value[0], value[1]) for value in values if isinstance(value, list))

    def part(self, field: str) -> "Record":
        """Return the object of a field as a record whose place names the field."""
        value = self._present(field)
        if not isinstance(value, dict):
            self.wrong(field, f"must be an object, not {_shown(value)}")
        return Record(f"{self.place}, {field}", value)

    def parts(self, field: str) -> Iterator["Record"]:
        """Yield the objects of a list as records numbered from 1."""
        for number, value in enumerate(self.values(field), 1):
            if not isinstance(value, dict):
                self.wrong(field, f"must be a list of objects, not of {_shown(value)}")
            yield Record(f"{self.place}, {field} {number}", value)

    def wrong(self, field: str, description: str) -> NoReturn:
        """Raise InvalidRequest for a field of the record."""
        raise InvalidRequest.of(f"{self.place}, {field}", description)

    def _present(self, field: str) -> object:
        value = self.fields.get(field)
        if value is None:
            has = ", ".join(list(self.fields)[:20]) or "none"
            self.wrong(field, f"is missing; the record's fields: {has}")
        return value

    def values(self, field: str) -> Sequence[object]:
        """Return the list of a field.

        Raises:
            InvalidRequest: the field is missing, or no list.
        """
        value = self._present(field)
        if not isinstance(value, list):
            self.wrong(field, f"must be a list, not {_shown(value)}")
        return value


def distinct(texts: Iterator[str]) -> tuple[str, ...]:
    """Return the distinct non-empty texts, in order."""
    return tuple(dict.fromkeys(text for text in texts if text))


def _shown(value: object) -> str:
    written = repr(value)
    return written if len(written) <= MAX_SHOWN else f"{written[:MAX_SHOWN]}..."
