"""Answerer whose event stream is observed by watches."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from scaar.core.errors import ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerEvent, AnswerRequest


class AnswerWatch(Protocol):
    """Observer of one answer. Its methods must neither block nor raise."""

    def on_event(self, event: AnswerEvent) -> None:
        """Receive an event before the client does."""
        ...

    def on_end(self, error: BaseException | None) -> None:
        """Receive the end of the answer, with the error if the answer failed."""
        ...


WatchFactory = Callable[[AnswerRequest], AnswerWatch]
"""Returns the watch of a new answer."""


class WatchedAnswerer:
    """An :class:`~scaar.core.ports.Answerer` that passes the events of another one to watches.

    ``resolve`` returns a request with the policy that answers it, for the watches.
    """

    def __init__(
        self,
        answerer: Answerer,
        watch_factories: Sequence[WatchFactory],
        *,
        resolve: Callable[[AnswerRequest], AnswerRequest] = lambda request: request,
    ) -> None:
        self._answerer = answerer
        self._resolve = resolve
        self._watch_factories = tuple(watch_factories)

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        request = self._resolve(request)
        # A request for the provenance alone is no answer.
        factories = () if request.provenance_only else self._watch_factories
        watches = [factory(request) for factory in factories]
        failure: BaseException | None = None
        try:
            async with aclosing(self._answerer.stream_answer(request)) as events:
                async for event in events:
                    for watch in watches:
                        watch.on_event(event)
                    yield event
        except BaseException as error:
            failure = error
            raise
        finally:
            for watch in watches:
                watch.on_end(failure)


def failure_of(error: BaseException | None) -> str:
    """Return why an answer did not finish: the reason of its error, or ``cancelled``."""
    if error is None or isinstance(error, GeneratorExit | asyncio.CancelledError):
        return "cancelled"
    return (error if isinstance(error, ScaarError) else ScaarError).reason.lower()
