"""The client for callers without an event loop."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import grpc

from scaar.client.asked import BUDGET, INDEX, NO_FILTERS, Filters, policy_request
from scaar.client.async_client import Client, open_client
from scaar.client.loop_thread import LoopThread
from scaar.core.types import Answer, AnswerEvent, BudgetLimits, OnFailure, PolicyRequest


class SyncClient:
    """Asks an orchestrator, from any thread; the methods are those of :class:`Client`."""

    def __init__(self, client: Client, thread: LoopThread) -> None:
        self._client = client
        self._thread = thread

    @contextmanager
    def stream_answer(
        self,
        question: str,
        *,
        policy: str | PolicyRequest = "scaar",
        index: str = INDEX,
        budget: BudgetLimits = BUDGET,
        prompt_profile: str = "",
        request_id: str = "",
        on_failure: OnFailure | str = OnFailure.FAIL,
        filters: Filters = NO_FILTERS,
        **overrides: float | str,
    ) -> Iterator[Iterator[AnswerEvent]]:
        """Every decision as it is made, :class:`AnswerFinished` last.

        Leaving the block cancels the call and all work for it.
        """
        asked = policy_request(policy, overrides)
        stream = self._client.stream_answer(
            question,
            policy=asked,
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            on_failure=on_failure,
            filters=filters,
        )
        # A step that was interrupted ends before the block is left.
        stepping = asyncio.Lock()

        async def enter() -> AsyncIterator[AnswerEvent]:
            return await stream.__aenter__()

        async def step() -> AnswerEvent | None:
            async with stepping:
                return await anext(events, None)

        async def leave() -> None:
            async with stepping:
                await stream.__aexit__(None, None, None)

        def iterate() -> Iterator[AnswerEvent]:
            while (event := self._thread.run(step())) is not None:
                yield event

        events = self._thread.run(enter())
        try:
            yield iterate()
        finally:
            self._thread.run(leave())

    def answer(
        self,
        question: str,
        *,
        policy: str | PolicyRequest = "scaar",
        index: str = INDEX,
        budget: BudgetLimits = BUDGET,
        prompt_profile: str = "",
        request_id: str = "",
        on_failure: OnFailure | str = OnFailure.FAIL,
        filters: Filters = NO_FILTERS,
        **overrides: float | str,
    ) -> Answer:
        """The answer alone."""
        answer = self._client.answer(
            question,
            policy=policy_request(policy, overrides),
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            on_failure=on_failure,
            filters=filters,
        )
        return self._thread.run(answer)


@contextmanager
def open_sync_client(
    target: str,
    *,
    credentials: grpc.ChannelCredentials | None = None,
    metadata: Mapping[str, str | bytes] | None = None,
    timeout_s: float = 3600.0,
    ca_file: Path | str | None = None,
    cert_file: Path | str | None = None,
    key_file: Path | str | None = None,
    token: str | None = None,
) -> Iterator[SyncClient]:
    """:func:`open_client` for callers without an event loop: it has one in a thread of its own.

    Leaving the block ends the calls that other threads still make, with ``RuntimeError``.
    """
    opening = open_client(
        target,
        credentials=credentials,
        metadata=metadata,
        timeout_s=timeout_s,
        ca_file=ca_file,
        cert_file=cert_file,
        key_file=key_file,
        token=token,
    )

    async def enter() -> Client:
        return await opening.__aenter__()

    async def leave() -> None:
        await opening.__aexit__(None, None, None)

    with LoopThread() as thread:
        client = thread.run(enter())
        try:
            yield SyncClient(client, thread)
        finally:
            thread.end(leave())
