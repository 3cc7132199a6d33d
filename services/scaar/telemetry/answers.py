"""An answerer that is watched: telemetry reads the stream of events, and the loop knows nothing."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from scaar.core.errors import ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerEvent, AnswerRequest


class AnswerWatch(Protocol):
    """Watches one answer. Neither method may block or raise."""

    def told(self, event: AnswerEvent) -> None:
        """An event, before whoever asked is given it."""
        ...

    def ended(self, error: BaseException | None) -> None:
        """Nothing follows; the error is what the answer ended with, if it did not end well."""
        ...


Watching = Callable[[AnswerRequest], AnswerWatch]
"""Makes the watch of an answer that is being asked for."""


class WatchedAnswerer:
    """An :class:`~scaar.core.ports.Answerer` with the events of another one."""

    def __init__(self, answerer: Answerer, watching: Sequence[Watching]) -> None:
        self._answerer = answerer
        self._watching = tuple(watching)

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        watches = [each(request) for each in self._watching]
        ended: BaseException | None = None
        try:
            async with aclosing(self._answerer.stream_answer(request)) as events:
                async for event in events:
                    for watch in watches:
                        watch.told(event)
                    yield event
        except BaseException as error:
            ended = error
            raise
        finally:
            for watch in watches:
                watch.ended(ended)


def failure_of(error: BaseException | None) -> str:
    """Why an answer ended that did not finish: the reason of its error, or that it was left."""
    if error is None or isinstance(error, GeneratorExit | asyncio.CancelledError):
        return "cancelled"
    return (error if isinstance(error, ScaarError) else ScaarError).reason.lower()
