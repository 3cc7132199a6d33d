"""Readers of the files of data sets: JSON, JSON lines and tables, also gzipped."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from scaar.core.errors import InvalidRequest
from scaar.evaluator.datasets.records import Record

MAX_FILE_BYTES = 2 * 1024**3
"""Maximum uncompressed size of a file, four times the largest of the known files."""

_GZIP_MAGIC = b"\x1f\x8b"


def text_of(path: Path, *, field: str = "path") -> str:
    """Return the text of a file, uncompressed if it is gzip.

    ``field`` names the file's option in errors. The file can be a pipe.

    Raises:
        InvalidRequest: the file cannot be read, is too large, or is not UTF-8.
    """
    try:
        with path.open("rb") as raw:
            packed = raw.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
            content = (gzip.GzipFile(fileobj=raw) if packed else raw).read(MAX_FILE_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidRequest.of(field, f"{path}: the gzip file is damaged: {error}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidRequest.of(field, f"{path} cannot be read: {reason}") from error
    if len(content) > MAX_FILE_BYTES:
        raise InvalidRequest.of(field, f"{path} must have at most {MAX_FILE_BYTES:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest.of(field, f"{path} is not UTF-8 at byte {error.start}") from error


def records_of(path: Path, *, within: str = "") -> Iterator[Record]:
    """Yield the records of a JSON array, of JSON lines, or of the list ``within`` an object.

    Raises:
        InvalidRequest: the file cannot be read or is not JSON, or a record is no object; names
            file and record.
    """
    text = text_of(path)
    if not text.strip():
        raise InvalidRequest.of("path", f"{path} is empty")
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("["):
            wrong = f"is not JSON: {error.msg} at column {error.colno}"
            raise InvalidRequest.of(f"{path.name} line {error.lineno}", wrong) from error
        yield from _of_lines(path, text)
        return
    except (ValueError, RecursionError) as error:
        raise InvalidRequest.of("path", f"{path} is not JSON of records") from error
    if isinstance(whole, dict) and within and within in whole:
        whole = whole[within]
        if not isinstance(whole, list):
            raise InvalidRequest.of(f"{path.name}, {within}", "must be a list of records")
    for number, fields in enumerate(whole if isinstance(whole, list) else [whole], 1):
        yield _record(path, number, fields)


def rows_of(path: Path, *, delimiter: str = ",", columns: Sequence[str] = ()) -> Iterator[Record]:
    """Yield the rows of a table with a header, which has the ``columns``, as records of text.

    Raises:
        InvalidRequest: the file cannot be read, lacks a column, or has a row with another number
            of fields than the header; names file and record.
    """
    if not (text := text_of(path)).strip():
        raise InvalidRequest.of("path", f"{path} is empty")
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = rows.fieldnames or ()
        if missing := [name for name in columns if name not in header]:
            wrong = f"{path} has no column {missing[0]} in its first line"
            raise InvalidRequest.of("path", wrong)
        for number, fields in enumerate(rows, 1):
            place = f"{path.name} record {number}"
            if None in fields or None in fields.values():
                raise InvalidRequest.of(place, f"must be a row of {len(header)} fields")
            yield Record(place, fields)
    except csv.Error as error:
        raise InvalidRequest.of(
            f"{path.name} line {rows.line_num}", f"is not a valid row: {error}"
        ) from error


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits.

    Raises:
        InvalidRequest: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidRequest.of("path", f"{path} cannot be read: {reason}") from error


def _of_lines(path: Path, text: str) -> Iterator[Record]:
    number = 0
    # Not splitlines: a JSON string may contain U+2028 and other line separators.
    for at, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        number += 1
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            wrong = f"is not JSON: {error.msg} at {error.pos}"
            raise InvalidRequest.of(f"{path.name} line {at}", wrong) from error
        except (ValueError, RecursionError) as error:
            raise InvalidRequest.of(f"{path.name} line {at}", "is not JSON of a record") from error
        yield _record(path, number, fields)


def _record(path: Path, number: int, fields: object) -> Record:
    place = f"{path.name} record {number}"
    if not isinstance(fields, dict):
        raise InvalidRequest.of(place, f"must be a JSON object, not {type(fields).__name__}")
    return Record(place, fields)
