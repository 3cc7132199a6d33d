"""The client of :mod:`scaar.client` with its orchestrator in the same process.

``open_client`` and ``open_sync_client`` return the clients of :mod:`scaar.client`. They
use the settings ``SCAAR_*`` and the indexes of ``SCAAR_HOME``, and need the extra
``scaar[all]``, or ``scaar[cli]`` and those of the engines.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, cast

from scaar.client import Client, SyncClient
from scaar.client.open_state import OpenState
from scaar.client.requests import each_of
from scaar.client.sync_client import open_in_thread
from scaar.compose import open_orchestrator, read_breakers
from scaar.core.errors import InvalidRequest, StreamIncomplete
from scaar.core.loop.loop import AdaptiveLoop
from scaar.core.ports import Catalog
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    DraftJudgement,
    JudgeDraftRequest,
)
from scaar.core.value_types import wrong_path
from scaar.orchestrator.settings import read_artefact


@asynccontextmanager
async def open_client(
    *, policy_files: Sequence[Path | str] | Path | str = ()
) -> AsyncIterator[Client]:
    """Open a client for asyncio whose orchestrator runs in this process.

    ``policy_files`` are artefacts of tuned policies, one or several, which requests can name.

    Raises:
        InvalidRequest: settings or files are invalid; names all of them.
        NotFound: a file does not exist or cannot be read.
        DataCorrupt: a file contains no valid artefact; names the field.
    """
    files = each_of(policy_files)
    if wrong := [each for file in files for each in wrong_path(file, "policy_files")]:
        raise InvalidRequest(wrong)
    artefacts = [read_artefact(Path(each)) for each in files]
    opening = open_orchestrator(breakers=read_breakers(), artefacts=artefacts)
    async with opening as (loop, catalog):
        state = OpenState()
        try:
            yield Client(_EmbeddedAnswerer(loop, state), cast(Catalog, _WhileOpen(catalog, state)))
        finally:
            state.closed = True


def open_sync_client(
    *, policy_files: Sequence[Path | str] | Path | str = ()
) -> AbstractContextManager[SyncClient]:
    """Open a client for callers without an event loop whose orchestrator runs in this process.

    The arguments and errors are those of :func:`open_client`.
    """
    return open_in_thread(open_client(policy_files=policy_files))


class _WhileOpen:
    """A part of a client, whose coroutines raise ``RuntimeError`` once it is closed."""

    def __init__(self, part: object, state: OpenState) -> None:
        self._part, self._state = part, state

    def __getattr__(self, name: str) -> Any:
        async def call(*given: Any) -> Any:
            with self._state.required():
                return await getattr(self._part, name)(*given)

        return call


class _EmbeddedAnswerer:
    """A loop that also returns an answer without its events, while its client is open."""

    def __init__(self, loop: AdaptiveLoop, state: OpenState) -> None:
        self._loop, self._state = loop, state

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        with self._state.required():
            async with aclosing(self._loop.stream_answer(request)) as events:
                async for event in events:
                    yield event

    async def judge_draft(self, request: JudgeDraftRequest) -> DraftJudgement:
        with self._state.required():
            return await self._loop.judge_draft(request)

    async def answer(self, request: AnswerRequest) -> Answer:
        async with aclosing(self.stream_answer(request)) as events:
            async for event in events:
                if isinstance(event, AnswerFinished):
                    return event.answer
        raise StreamIncomplete("the stream of the answer ended before its last event")
