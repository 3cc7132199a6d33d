"""The process that reads documents: one after another from standard input, to standard output.

A request is a line of JSON with the limits, the suffix and the size, and then the content. The
result is a line of JSON.
"""

import json
import resource
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any, BinaryIO

from scaar.core.errors import CapabilityMissing
from scaar.retriever.documents.document import Document, DocumentUnreadable, ReadingLimits
from scaar.retriever.documents.readers import read_document


def main(requests: BinaryIO, results: BinaryIO) -> None:
    """Read the documents of all requests."""
    while line := requests.readline():
        request = json.loads(line)
        limits = ReadingLimits(**request["limits"])
        content = requests.read(request["size"])
        results.write(json.dumps(_result(request["suffix"], content, limits)).encode() + b"\n")
        results.flush()


def request_of(suffix: str, content: bytes, limits: ReadingLimits) -> bytes:
    """Return the request to read a document."""
    head = {"suffix": suffix, "size": len(content), "limits": asdict(limits)}
    return json.dumps(head).encode() + b"\n" + content


def _result(suffix: str, content: bytes, limits: ReadingLimits) -> dict[str, Any]:
    try:
        with suppress(OSError, ValueError):  # not on every platform
            resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
        document = read_document(suffix, content, limits)
    except DocumentUnreadable as error:
        return {"error": str(error)}
    except CapabilityMissing as error:
        return {"missing": error.message}
    except MemoryError:
        return {"error": f"needs more than {limits.memory_bytes / 1e9:g} GB of memory to read"}
    return _record(document)


def _record(document: Document) -> dict[str, Any]:
    blocks = [(each.text, each.headings, each.page) for each in document.blocks]
    return {"title": document.title, "url": document.url, "blocks": blocks}


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
