"""The client of :mod:`scaar.client` with its orchestrator in the same process.

``open_client`` and ``open_sync_client`` return the clients of :mod:`scaar.client`. They
use the settings ``SCAAR_*`` and the indexes of ``SCAAR_HOME``, and need the extra ``scaar[cli]``.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager, aclosing, asynccontextmanager

from scaar.client import Client, SyncClient
from scaar.client.sync_client import open_in_thread
from scaar.compose import open_orchestrator, read_breakers
from scaar.core.errors import StreamIncomplete
from scaar.core.ports import Answerer
from scaar.core.types import Answer, AnswerEvent, AnswerFinished, AnswerRequest


@asynccontextmanager
async def open_client() -> AsyncIterator[Client]:
    """Open a client for asyncio whose orchestrator runs in this process."""
    async with open_orchestrator(breakers=read_breakers()) as (loop, catalog):
        yield Client(_EmbeddedAnswerer(loop), catalog)


def open_sync_client() -> AbstractContextManager[SyncClient]:
    """Open a client for callers without an event loop whose orchestrator runs in this process."""
    return open_in_thread(open_client())


class _EmbeddedAnswerer:
    """An answerer that also returns an answer without its events."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer

    def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        return self._answerer.stream_answer(request)

    async def answer(self, request: AnswerRequest) -> Answer:
        async with aclosing(self._answerer.stream_answer(request)) as events:
            async for event in events:
                if isinstance(event, AnswerFinished):
                    return event.answer
        raise StreamIncomplete("the stream of the answer ended before its last event")
