"""JSON on standard output, one value a line."""

import json
import os
import sys
from collections.abc import Iterable, Mapping

Record = Mapping[str, object]


def print_json_lines(records: Iterable[Record]) -> None:
    """Prints the records as they come; ends quietly when the reader has gone, as ``head`` does."""
    try:
        for record in records:
            sys.stdout.write(f"{json.dumps(record, ensure_ascii=False)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer must go somewhere at the interpreter's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
