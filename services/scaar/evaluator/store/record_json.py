"""Records as JSON and back: one line for each of many, indented for a single one."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from scaar.core.errors import DataCorrupt

T = TypeVar("T")


class RecordJson(Generic[T]):
    """Reads and writes one kind of record, a dataclass, as JSON."""

    def __init__(self, kind: type[T]) -> None:
        self._adapter = TypeAdapter(kind)

    def line(self, record: T) -> bytes:
        """Return the record as one line, without fields that have their defaults."""
        return self._adapter.dump_json(record, exclude_defaults=True) + b"\n"

    def document(self, record: T) -> bytes:
        """Return the record indented, without fields that are None by default."""
        return json.dumps(self.plain(record), indent=2, ensure_ascii=False).encode() + b"\n"

    def plain(self, record: T) -> object:
        """Return the record as dictionaries, lists and scalars."""
        return _without_nones(record, self._adapter.dump_python(record, mode="json"))

    def read(self, content: bytes, where: str) -> T:
        """Parse a record; ``where`` names its place in errors.

        Raises:
            DataCorrupt: the content is no record of this kind.
        """
        try:
            return self._adapter.validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"]))
            text = f"{field}: {first['msg']}" if field else str(first["msg"])
            raise DataCorrupt(f"{where} is corrupt: {text}") from error

    def read_lines(self, content: bytes, name: str) -> Iterator[T]:
        """Parse the record of every line.

        Raises:
            DataCorrupt: naming the first line without a record.
        """
        for number, line in enumerate(content.splitlines(), 1):
            yield self.read(line, f"{name} line {number}")


def _without_nones(record: Any, plain: Any) -> Any:
    """The record as JSON values, without fields that are None by default."""
    if dataclasses.is_dataclass(record):
        return {
            each.name: _without_nones(getattr(record, each.name), plain[each.name])
            for each in dataclasses.fields(record)
            if getattr(record, each.name) is not None or each.default is not None
        }
    if isinstance(record, Mapping):
        return {key: _without_nones(value, plain[key]) for key, value in record.items()}
    if isinstance(record, tuple):
        return [_without_nones(*pair) for pair in zip(record, plain, strict=True)]
    return plain
