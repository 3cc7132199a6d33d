"""Parser of lines in the layout of DPR's ``psgs_w100.tsv``: tab-separated id, text and title.

A field may be quoted, with quotes inside it doubled. A passage is one line.
"""

import csv
from pathlib import Path

HEADER = ("id", "text", "title")


def is_tsv(path: Path) -> bool:
    """Return whether a file has this layout, by its name: ``.tsv``, or compressed ``.tsv.gz``."""
    return path.name.endswith((".tsv", ".tsv.gz"))


def tsv_fields(line: str) -> dict[str, str] | None:
    """Return the fields of a line by name, None for the header.

    Raises:
        ValueError: describing the error in the line.
    """
    try:
        (fields,) = csv.reader([line.rstrip("\r\n")], delimiter="\t", strict=True)
    except csv.Error as error:
        raise ValueError(f"must have {len(HEADER)} tab-separated fields: {error}") from error
    if len(fields) != len(HEADER):
        raise ValueError(f"must have {len(HEADER)} tab-separated fields, not {len(fields)}")
    return None if tuple(fields) == HEADER else dict(zip(HEADER, fields, strict=True))
