"""Log of a process, as text or JSON lines, without user content unless it is enabled.

User content is what a record has under ``content`` (``extra=content_of(...)``) and the messages of
its exceptions. Log messages themselves never quote it.
"""

import asyncio
import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TextIO

from scaar.core.calls.context import CallContext, current_call
from scaar.runtime.settings import ProcessSettings

_CONTENT = "content"
_LOGGER = logging.getLogger(__name__)
_OWN = logging.getLogger("scaar")


def content_of(**words: object) -> Mapping[str, object]:
    """Return the ``extra`` of a record with texts of questions, passages or answers."""
    return {_CONTENT: words}


@contextmanager
def logging_to(
    settings: ProcessSettings, *, service: str, stream: TextIO | None = None
) -> Iterator[None]:
    """Configure the log of the process for the duration of the block; by default on stderr.

    Libraries log warnings and errors only.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    kinds = {"text": TextFormatter, "json": JsonFormatter}
    handler.setFormatter(kinds[settings.log_format](service, content=settings.log_content))
    handler.addFilter(_name_lost_clients)
    root, level = logging.getLogger(), settings.log_level.upper()
    before = root.handlers[:], root.level, _OWN.level
    root.handlers[:] = [handler]
    # Libraries log steps of their own as information, such as each request of an HTTP client.
    root.setLevel("WARNING" if level == "INFO" else level)
    _OWN.setLevel(level)
    try:
        yield
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        _OWN.setLevel(before[2])


def log_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle an event loop's exception; asyncio's handler quotes the exception in the message."""
    _LOGGER.error("%s", context["message"], exc_info=context.get("exception"))


def _name_lost_clients(record: logging.LogRecord) -> bool:
    """Turn gRPC's error about a call whose client has gone into information.

    gRPC ignores a failed write to such a call, unless it fails before gRPC has noticed the end.
    """
    error = record.exc_info[1] if record.exc_info else None
    if record.name != "grpc._cython.cygrpc" or type(error).__name__ != "ExecuteBatchError":
        return True
    record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
    record.msg, record.args = f"the client of a call has gone: {record.getMessage()}", ()
    record.exc_info = None
    return _OWN.isEnabledFor(logging.INFO)


class _Formatter(logging.Formatter):
    def __init__(self, service: str, *, content: bool) -> None:
        super().__init__()
        self._service = service
        self._content = content

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return super().formatException(ei) if self._content else _bare(ei[1])

    def _exception(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info else ""

    def _words(self, record: logging.LogRecord) -> object:
        return getattr(record, _CONTENT, None) if self._content else None


class JsonFormatter(_Formatter):
    """Formats a record as one line of JSON, with service, request id and trace id."""

    def format(self, record: logging.LogRecord) -> str:
        call = current_call() or CallContext()
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "service": self._service,
            "request_id": call.request_id,
            "trace_id": call.trace_id,
        }
        if exception := self._exception(record):
            line["exception"] = exception
        if words := self._words(record):
            line[_CONTENT] = words
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(_Formatter):
    """Formats a record as one line of text, followed by its exception."""

    def format(self, record: logging.LogRecord) -> str:
        call = current_call() or CallContext()
        line = f"{_time(record)} {record.levelname} {record.name}: {record.getMessage()}"
        for name, value in (("request", call.request_id), ("trace", call.trace_id)):
            line += f" {name}={value}" if value else ""
        if words := self._words(record):
            line += f" {json.dumps(words, ensure_ascii=False, default=str)}"
        exception = self._exception(record)
        return f"{line}\n{exception}" if exception else line


def _time(record: logging.LogRecord) -> str:
    found = datetime.fromtimestamp(record.created, UTC)
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bare(error: BaseException | None, seen: frozenset[int] = frozenset()) -> str:
    """Return the traceback of an error and its causes, with types but without messages."""
    if error is None or id(error) in seen:
        return ""
    seen |= {id(error)}
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    parts = [_bare(behind, seen)]
    if isinstance(error, BaseExceptionGroup):
        parts += [_bare(each, seen) for each in error.exceptions]
    frames = "".join(traceback.format_tb(error.__traceback__))
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    parts.append(f"Traceback (most recent call last):\n{frames}{kind}: (text withheld)")
    return "\n".join(part for part in parts if part)
