"""The log of a process: as text or as JSON lines, with nobody's words unless they are asked for.

A record's words are what it holds under ``content`` and the texts of its exceptions; log messages
themselves quote neither. A record says them by ``extra=content_of(...)``.
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

from scaar.core.call_context import CallContext, current_call
from scaar.runtime.settings import ServiceSettings

_CONTENT = "content"
_LOGGER = logging.getLogger(__name__)


def content_of(**words: object) -> Mapping[str, object]:
    """The ``extra`` of a record with words of questions, passages or answers."""
    return {_CONTENT: words}


@contextmanager
def logging_to(
    settings: ServiceSettings, *, service: str, stream: TextIO | None = None
) -> Iterator[None]:
    """Has the process log to the stream, by default stderr, as the settings say, until the end."""
    handler = logging.StreamHandler(stream or sys.stderr)
    kinds = {"text": TextFormatter, "json": JsonFormatter}
    handler.setFormatter(kinds[settings.log_format](service, content=settings.log_content))
    root = logging.getLogger()
    before = root.handlers[:], root.level
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    try:
        yield
    finally:
        root.handlers[:], _ = before
        root.setLevel(before[1])


def log_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An event loop's exception handler; asyncio's own quotes the exception in the message."""
    _LOGGER.error("%s", context["message"], exc_info=context.get("exception"))


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
    """A JSON object a line: what was logged, by which service, for which request and trace."""

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
    """A line for people, its exception below it."""

    def format(self, record: logging.LogRecord) -> str:
        call = current_call() or CallContext()
        told = f"{_time(record)} {record.levelname} {record.name}: {record.getMessage()}"
        for name, value in (("request", call.request_id), ("trace", call.trace_id)):
            told += f" {name}={value}" if value else ""
        if words := self._words(record):
            told += f" {json.dumps(words, ensure_ascii=False, default=str)}"
        exception = self._exception(record)
        return f"{told}\n{exception}" if exception else told


def _time(record: logging.LogRecord) -> str:
    found = datetime.fromtimestamp(record.created, UTC)
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bare(error: BaseException | None, seen: frozenset[int] = frozenset()) -> str:
    """The traceback of an error and of those behind it, each by its type alone."""
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
