"""JSON lines on standard output."""

import json
import sys
from collections.abc import Iterable, Mapping

Record = Mapping[str, object]


def print_json_lines(records: Iterable[Record]) -> None:
    """Print a record a line."""
    for record in records:
        sys.stdout.write(f"{json.dumps(record, ensure_ascii=False)}\n")
