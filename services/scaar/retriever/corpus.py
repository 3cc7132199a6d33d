"""Passages from a file: JSON lines with ``id``, ``title`` and ``text``, or a ``.tsv``.

Either may be packed with gzip. BEIR's ``_id`` is taken where there is no ``id``; a missing title is
an empty one. ``metadata`` holds a text or a list of texts for each of its fields; one without any
is a missing one. Everything else is passed over, and lines of white space alone. The layout of a
``.tsv`` is told in :mod:`scaar.retriever.tsv`.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import MetadataField, Passage
from scaar.retriever.build_limits import MAX_BLANK_LINES, BuildLimits
from scaar.retriever.metadata import undeclared
from scaar.retriever.tsv import is_tsv, tsv_fields
from scaar.retriever.validation import wrong_fields

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Bounds what is held of a file at once: a passage of the greatest length, escaped."""

_HOW_TO_DECLARE = "--metadata declares fields, --ignore-metadata leaves out what a file has"
_DEFAULT_LIMITS = BuildLimits()
_GZIP_MAGIC = b"\x1f\x8b"


class CorpusFile:
    """A file of passages, read once from its start to its end.

    ``read_bytes`` of ``size_bytes`` are read so far, and ``passages`` of them given. ``declared``
    are the fields that a passage may carry, None for any; without ``metadata`` those of the file
    are passed over. What is read is held to the ``limits``.
    """

    def __init__(
        self,
        path: Path,
        *,
        declared: Sequence[str] | None = None,
        metadata: bool = True,
        limits: BuildLimits = _DEFAULT_LIMITS,
    ) -> None:
        self.path = path
        self._limits = limits
        self.declared = declared
        self._takes_metadata = metadata
        self.passages = 0
        self.read_bytes = 0
        self.size_bytes = 0
        self._lines: dict[str, int] = {}

    def __iter__(self) -> Iterator[Passage]:
        """The passages in order.

        Raises:
            InvalidRequest: the file cannot be read, or a line of it is no passage or has the id
                of an earlier one; naming file, line and field.
        """
        try:
            with self.path.open("rb") as raw:
                self.size_bytes = self.path.stat().st_size
                yield from self._passages_of(raw)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidRequest.of("corpus", f"{self.path} cannot be read: {reason}") from error
        if not self.passages:
            raise InvalidRequest.of("corpus", f"{self.path} holds no passage")

    def _passages_of(self, raw: BinaryIO) -> Iterator[Passage]:
        unpacked = blank = 0
        for number, line in self._lines_of(raw):
            self.read_bytes = raw.tell()
            unpacked += len(line)
            self._limits.check("corpus", passages=self.passages, size_bytes=unpacked)
            if line.isspace():
                blank += 1
                if blank > MAX_BLANK_LINES:
                    text = f"must not be blank: a file may have {MAX_BLANK_LINES:,} blank lines"
                    raise self._wrong(number, "", text)
                continue
            passage = self._passage(number, line)
            if passage is None:
                continue
            first = self._lines.setdefault(passage.id, number)
            if first != number:
                raise self._wrong(number, "id", f"{passage.id!r} is the id of line {first} already")
            self.passages += 1
            self._limits.check("corpus", passages=self.passages, size_bytes=unpacked)
            yield passage

    def _lines_of(self, raw: BinaryIO) -> Iterator[tuple[int, bytes]]:
        packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        if not packed and self.path.suffix == ".gz" and self.size_bytes:
            raise InvalidRequest.of("corpus", f"{self.path} is not a gzip file, whatever its name")
        file = gzip.GzipFile(fileobj=raw) if packed else raw
        number = 1
        try:
            while line := file.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise self._wrong(number, "", f"must have at most {MAX_LINE_BYTES:,} bytes")
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                number += 1
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._wrong(number, "", f"the gzip file breaks off here: {error}") from error

    def _passage(self, number: int, line: bytes) -> Passage | None:
        """The passage of a line; None for the header of a file that has one."""
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise self._wrong(number, "", f"is not UTF-8 at byte {error.start}") from error
        record = self._fields(number, text) if is_tsv(self.path) else self._json(number, text)
        if record is None:
            return None
        passage = Passage(
            id=self._text(number, "id", record.get("id", record.get("_id"))),
            title=self._text(
                number, "title", "" if (title := record.get("title")) is None else title
            ),
            text=self._text(number, "text", record.get("text")),
            metadata=self._metadata(number, record.get("metadata")),
        )
        wrong = wrong_fields(passage)
        if not wrong and self.declared is not None:
            wrong = [
                Violation(each.field, f"{each.description}; {_HOW_TO_DECLARE}")
                for each in undeclared(passage.id, passage.metadata, self.declared)
            ]
        if wrong:
            raise InvalidRequest(
                [Violation(self._field(number, each.field), each.description) for each in wrong]
            )
        return passage

    def _json(self, number: int, text: str) -> Mapping[str, object]:
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise self._wrong(number, "", f"is not JSON: {error.msg} at {error.pos}") from error
        except (ValueError, RecursionError) as error:
            raise self._wrong(number, "", "is not JSON of a passage") from error
        if not isinstance(record, dict):
            raise self._wrong(number, "", "is not a JSON object")
        return record

    def _fields(self, number: int, text: str) -> Mapping[str, object] | None:
        try:
            fields = tsv_fields(text)
        except ValueError as error:
            raise self._wrong(number, "", str(error)) from error
        if (fields is None) != (number == 1):
            raise self._wrong(
                number, "", "must be id, text, title in the first line, and only there"
            )
        return fields

    def _text(self, number: int, field: str, value: object) -> str:
        if value is None:
            raise self._wrong(number, field, "is missing")
        if not isinstance(value, str):
            raise self._wrong(number, field, f"must be a string, not {type(value).__name__}")
        return value

    def _metadata(self, number: int, value: object) -> tuple[MetadataField, ...]:
        if value is None or not self._takes_metadata:
            return ()
        if not isinstance(value, dict):
            told = f"must be an object, not {type(value).__name__}"
            raise self._wrong(number, "metadata", told)
        found = []
        for name, given in value.items():
            values = [given] if isinstance(given, str) else [] if given is None else given
            if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
                told = "must be a text or a list of texts"
                raise self._wrong(number, f"metadata.{name[:80]}", told)
            if values:
                found.append(MetadataField(name, tuple(values)))
        return tuple(found)

    def _wrong(self, number: int, field: str, description: str) -> InvalidRequest:
        return InvalidRequest.of(self._field(number, field), description)

    def _field(self, number: int, field: str) -> str:
        place = f"{self.path.name} line {number}"
        return f"{place}, {field}" if field else place
