"""Output files of commands; a file appears under its name once it is complete."""

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.retriever.metadata import metadata_to_json
from scaar.runtime.disk import write_problem


def write_passages(out: Path, passages: Iterable[Passage]) -> int:
    """Write passages in the layout of ``scaar index build``, and return their number.

    A name that ends in .gz is compressed.

    Raises:
        InvalidRequest: the file exists already or cannot be written.
    """
    if out.exists():
        raise InvalidRequest.of("--out", f"{out} already exists")
    number = 0
    with new_file(out) as written:
        for passage in passages:
            written.write(f"{json.dumps(_record(passage), ensure_ascii=False)}\n".encode())
            number += 1
    return number


def _record(passage: Passage) -> dict[str, object]:
    record: dict[str, object] = {
        "id": passage.id,
        "title": passage.title,
        "text": passage.text,
    }
    if passage.metadata:
        record["metadata"] = metadata_to_json(passage.metadata)
    return record


@contextmanager
def new_file(
    path: Path, *, field: str = "--out"
) -> Iterator[BinaryIO | gzip.GzipFile | io.BufferedWriter]:
    """Open a draft of the file, and rename it once it is complete.

    Raises:
        InvalidRequest: the file cannot be written; names the ``field``.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("xb") as raw:
            if path.suffix == ".gz":
                # No timestamp, so that the same passages give the same bytes.
                with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
                    yield packed
            else:
                yield raw
        draft.rename(path)
    except OSError as error:
        raise InvalidRequest.of(field, write_problem(path, error)) from error
    finally:
        with suppress(OSError):
            draft.unlink()
