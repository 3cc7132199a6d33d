"""JSON lines on standard output."""

import json
import os
import sys
from collections.abc import Iterable, Mapping

Record = Mapping[str, object]


def print_json_lines(records: Iterable[Record]) -> None:
    """Print a record a line; return quietly when the reader closes the pipe, as ``head`` does."""
    try:
        for record in records:
            sys.stdout.write(f"{json.dumps(record, ensure_ascii=False)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes the rest of the buffer when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
