"""Lines in the layout of DPR's ``psgs_w100.tsv``: id, text and title, apart by tabs.

A field may stand in quotes, a quote in it doubled. A passage is one line.
"""

import csv
from pathlib import Path

HEADER = ("id", "text", "title")


def is_tsv(path: Path) -> bool:
    """Whether a file is of this layout, by its name: ``.tsv``, and packed ``.tsv.gz``."""
    return path.name.endswith((".tsv", ".tsv.gz"))


def tsv_fields(line: str) -> dict[str, str] | None:
    """The fields of a line by their names; None for the header.

    Raises:
        ValueError: saying what is wrong with the line.
    """
    try:
        (fields,) = csv.reader([line.rstrip("\r\n")], delimiter="\t", strict=True)
    except csv.Error as error:
        raise ValueError(f"is not {len(HEADER)} fields apart by tabs: {error}") from error
    if len(fields) != len(HEADER):
        raise ValueError(f"must have {len(HEADER)} fields apart by tabs, not {len(fields)}")
    return None if tuple(fields) == HEADER else dict(zip(HEADER, fields, strict=True))
