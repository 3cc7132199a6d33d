"""Reading of documents in a process of its own, so that none takes the reader's time or memory."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from scaar.core.errors import BackendUnavailable, CapabilityMissing
from scaar.retriever.documents.document import (
    Block,
    Document,
    DocumentUnreadable,
    ReadingLimits,
)
from scaar.retriever.documents.worker import request_of

_WORKER = (sys.executable, "-m", "scaar.retriever.documents.worker")


class IsolatedReader:
    """Reads documents in a process, which is replaced after a crash or a timeout.

    Used by one thread; :meth:`close` may be called from another.
    """

    def __init__(self, limits: ReadingLimits, *, command: Sequence[str] = _WORKER) -> None:
        self._limits = limits
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, suffix: str, content: bytes) -> Document:
        """Return the document of a file with this suffix.

        Raises:
            DocumentUnreadable: the content is empty, damaged or too large, or takes too much time
                or memory.
            CapabilityMissing: the library of the format is not installed.
        """
        process = self._process or self._start()
        late = threading.Event()

        def kill() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._limits.seconds, kill)
        timer.start()
        try:
            result = _ask(process, request_of(suffix, content, self._limits))
        finally:
            timer.cancel()
        if result is None:
            self.close()
            if late.is_set():
                raise DocumentUnreadable(f"takes longer than {self._limits.seconds:g} s to read")
            raise DocumentUnreadable("is damaged: it stopped the process that read it")
        if "missing" in result:
            raise CapabilityMissing(result["missing"])
        if "error" in result:
            raise DocumentUnreadable(result["error"])
        blocks = (Block(text, tuple(path), page) for text, path, page in result["blocks"])
        return Document(tuple(blocks), result["title"], result["url"])

    def close(self) -> None:
        """End the process; a document that is being read becomes unreadable."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        # In a session of its own, so that Ctrl-C reaches only its parent.
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise BackendUnavailable(f"documents cannot be read: {reason}") from error
        return self._process


def _ask(process: subprocess.Popen[bytes], request: bytes) -> dict[str, Any] | None:
    """Return the answer of the process; None if it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request)
        process.stdin.flush()
        line = process.stdout.readline()
    except (OSError, ValueError):  # ValueError: closed by another thread
        return None
    found: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
    return found
