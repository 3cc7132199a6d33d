"""Reader of passages from a file: JSON lines with ``id``, ``title`` and ``text``, or a ``.tsv``.

Either may be compressed with gzip. ``_id``, as in BEIR, is accepted in place of ``id``, and a
missing title is empty. ``contents``, as in FlashRAG, is accepted in place of title and text: if it
has several lines, the first one is the title, without the quotes around it. ``metadata`` has a text
or a list of texts for each field; a field without values counts as missing. Other members and blank
lines are ignored. :mod:`scaar.retriever.corpus.tsv` describes the layout of a ``.tsv``.
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
from scaar.retriever.corpus.tsv import is_tsv, tsv_fields
from scaar.retriever.metadata import undeclared_fields
from scaar.retriever.validation import passage_violations, without_control_characters

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Maximum length of a line, which bounds the memory: a passage of maximum length, escaped."""

_HOW_TO_DECLARE = "--metadata declares fields, --ignore-metadata leaves out what a file has"
LAYOUTS = (
    'A file of passages has JSON lines, such as {"id": "1", "title": "Etna", "text": "Etna is a '
    'volcano."}, or the name *.tsv and three columns with the header id<TAB>text<TAB>title, such '
    "as 1<TAB>Etna is a volcano.<TAB>Etna"
)
"""The layouts of a file of passages, with a line of each."""
_DEFAULT_LIMITS = BuildLimits()
_GZIP_MAGIC = b"\x1f\x8b"


class CorpusFile:
    """A file of passages, read once from start to end, within the ``limits``.

    ``declared`` are the metadata fields that a passage may have, None for any. Without
    ``metadata``, the fields of the file are ignored, without ``titles`` its titles. With ``clean``,
    control characters in titles and texts become spaces; without it, they are errors.
    ``read_bytes`` of ``size_bytes`` have been read so far, and ``passages`` yielded.
    """

    def __init__(
        self,
        path: Path,
        *,
        declared: Sequence[str] | None = None,
        metadata: bool = True,
        titles: bool = True,
        clean: bool = False,
        limits: BuildLimits = _DEFAULT_LIMITS,
    ) -> None:
        self.path = path
        self._limits = limits
        self.declared = declared
        self._takes_metadata = metadata
        self._takes_titles = titles
        self._clean = clean
        self.passages = 0
        self.read_bytes = 0
        self.size_bytes = 0
        self._lines: dict[str, int] = {}

    def __iter__(self) -> Iterator[Passage]:
        """Yield the passages in order.

        Raises:
            InvalidRequest: the file cannot be read, or a line is not a passage or repeats an id;
                the error names file, line and field.
        """
        try:
            with self.path.open("rb") as raw:
                self.size_bytes = self.path.stat().st_size
                yield from self._passages_of(raw)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidRequest.of("corpus", f"{self.path} cannot be read: {reason}") from error
        if not self.passages:
            raise InvalidRequest.of("corpus", f"{self.path} contains no passage")

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
                raise self._wrong(number, "id", f"{passage.id!r} is already the id of line {first}")
            self.passages += 1
            self._limits.check("corpus", passages=self.passages, size_bytes=unpacked)
            yield passage

    def _lines_of(self, raw: BinaryIO) -> Iterator[tuple[int, bytes]]:
        packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        if not packed and self.path.suffix == ".gz" and self.size_bytes:
            raise InvalidRequest.of("corpus", f"{self.path} is not a gzip file, despite its name")
        file = gzip.GzipFile(fileobj=raw) if packed else raw
        number = 1
        try:
            while line := file.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise self._wrong(number, "", f"must have at most {MAX_LINE_BYTES:,} bytes")
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                number += 1
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._wrong(number, "", f"the gzip file is damaged here: {error}") from error

    def _passage(self, number: int, line: bytes) -> Passage | None:
        """Return the passage of a line, None for the header of a ``.tsv``."""
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise self._wrong(number, "", f"is not UTF-8 at byte {error.start}") from error
        record = self._fields(number, text) if is_tsv(self.path) else self._json(number, text)
        if record is None:
            return None
        passage = Passage(
            id=self._text(number, "id", record.get("id", record.get("_id"))),
            title=self._cleaned(self._title(number, record)),
            text=self._cleaned(self._text(number, "text", record.get("text"))),
            metadata=self._metadata(number, record.get("metadata")),
        )
        wrong = passage_violations(passage)
        if not wrong and self.declared is not None:
            wrong = [
                Violation(each.field, f"{each.description}; {_HOW_TO_DECLARE}")
                for each in undeclared_fields(passage.id, passage.metadata, self.declared)
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
            text = f"is not JSON: {error.msg} at {error.pos}"
            raise self._wrong_layout(number, text) from error
        except (ValueError, RecursionError) as error:
            raise self._wrong_layout(number, "is not JSON of a passage") from error
        if not isinstance(record, dict):
            raise self._wrong_layout(number, "is not a JSON object")
        if "text" not in record and isinstance(contents := record.get("contents"), str):
            return {**record, **_title_and_text(contents)}
        return record

    def _fields(self, number: int, text: str) -> Mapping[str, object] | None:
        try:
            fields = tsv_fields(text)
        except ValueError as error:
            raise self._wrong_layout(number, str(error)) from error
        if (fields is None) != (number == 1):
            text = "must be id, text, title in the first line, and only there"
            raise self._wrong_layout(number, text)
        return fields

    def _title(self, number: int, record: Mapping[str, object]) -> str:
        title = record.get("title")
        return "" if title is None or not self._takes_titles else self._text(number, "title", title)

    def _cleaned(self, text: str) -> str:
        return without_control_characters(text) if self._clean else text

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
            text = f"must be an object, not {type(value).__name__}"
            raise self._wrong(number, "metadata", text)
        found = []
        for name, given in value.items():
            values = [given] if isinstance(given, str) else [] if given is None else given
            if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
                text = "must be a text or a list of texts"
                raise self._wrong(number, f"metadata.{name[:80]}", text)
            if values:
                found.append(MetadataField(name, tuple(values)))
        return tuple(found)

    def _wrong_layout(self, number: int, description: str) -> InvalidRequest:
        """Return the error of a line; of the first passage, with the layouts of such files."""
        layouts = "" if self.passages else f". {LAYOUTS}"
        return self._wrong(number, "", f"{description}{layouts}")

    def _wrong(self, number: int, field: str, description: str) -> InvalidRequest:
        return InvalidRequest.of(self._field(number, field), description)

    def _field(self, number: int, field: str) -> str:
        place = f"{self.path.name} line {number}"
        return f"{place}, {field}" if field else place


def _title_and_text(contents: str) -> Mapping[str, str]:
    """Return title and text of FlashRAG's field ``contents``."""
    title, line_end, text = contents.partition("\n")
    if not line_end:
        return {"text": contents}
    quoted = len(title) > 1 and title[0] == title[-1] == '"'
    return {"title": title[1:-1] if quoted else title, "text": text}
