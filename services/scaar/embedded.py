"""The client of :mod:`scaar.client` with its orchestrator in the same process.

``open_client`` and ``open_sync_client`` return the clients of :mod:`scaar.client`. They
use the settings ``SCAAR_*`` and the indexes of ``SCAAR_HOME``, and need the extra
``scaar[all]``, or ``scaar[cli]`` and those of the engines.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from scaar.client import Client, SyncClient
from scaar.client.requests import each_of
from scaar.client.sync_client import open_in_thread
from scaar.compose import open_orchestrator, read_breakers
from scaar.core.errors import StreamIncomplete
from scaar.core.loop.loop import AdaptiveLoop
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    DraftJudgement,
    JudgeDraftRequest,
)
from scaar.orchestrator.settings import read_artefact


@asynccontextmanager
async def open_client(
    *, policy_files: Sequence[Path | str] | Path | str = ()
) -> AsyncIterator[Client]:
    """Open a client for asyncio whose orchestrator runs in this process.

    ``policy_files`` are artefacts of tuned policies, one or several, which requests can name.

    Raises:
        NotFound: a file does not exist or cannot be read.
        DataCorrupt: a file contains no valid artefact; names the field.
    """
    artefacts = [read_artefact(Path(each)) for each in each_of(policy_files)]
    opening = open_orchestrator(breakers=read_breakers(), artefacts=artefacts)
    async with opening as (loop, catalog):
        parts = _WhileOpen(_EmbeddedAnswerer(loop)), _WhileOpen(catalog)
        try:
            yield Client(*parts)
        finally:
            for each in parts:
                each.closed = True


def open_sync_client(
    *, policy_files: Sequence[Path | str] | Path | str = ()
) -> AbstractContextManager[SyncClient]:
    """Open a client for callers without an event loop whose orchestrator runs in this process.

    The arguments and errors are those of :func:`open_client`.
    """
    return open_in_thread(open_client(policy_files=policy_files))


class _WhileOpen:
    """A part of a client, whose methods raise ``RuntimeError`` once it is closed."""

    def __init__(self, part: object) -> None:
        self._part = part
        self.closed = False

    def __getattr__(self, name: str) -> Any:
        if self.closed:
            raise RuntimeError("the client is closed")
        return getattr(self._part, name)


class _EmbeddedAnswerer:
    """A loop that also returns an answer without its events."""

    def __init__(self, loop: AdaptiveLoop) -> None:
        self._loop = loop

    def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        return self._loop.stream_answer(request)

    async def judge_draft(self, request: JudgeDraftRequest) -> DraftJudgement:
        return await self._loop.judge_draft(request)

    async def answer(self, request: AnswerRequest) -> Answer:
        async with aclosing(self._loop.stream_answer(request)) as events:
            async for event in events:
                if isinstance(event, AnswerFinished):
                    return event.answer
        raise StreamIncomplete("the stream of the answer ended before its last event")
