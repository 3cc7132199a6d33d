"""Channel whose certificates are renewed while it is in use."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

import grpc

from scaar.runtime.wrapped_channel import WrappedChannel

CredentialsSource = Callable[[], grpc.ChannelCredentials]
"""Returns the current credentials: the same object until they change."""

_ASK_EVERY_S = 1.0


class RenewingChannel(WrappedChannel):
    """Channel that opens new connections once its credentials have changed.

    gRPC cannot change the credentials of an open channel, so a new channel replaces it. Every call
    checks the credentials, uses the newest channel and waits while that connects. Calls in
    progress stay on their channel, which is closed when the last of them has ended.
    """

    def __init__(
        self,
        opened: Callable[[grpc.ChannelCredentials], grpc.aio.Channel],
        credentials: CredentialsSource,
    ) -> None:
        self._opened = opened
        self._credentials = credentials
        self._shown = credentials()
        super().__init__(opened(self._shown))
        # Weak references: gRPC cancels a call that is no longer referenced.
        self._calls = WeakSet[Any]()
        self._older: dict[grpc.aio.Channel, asyncio.Task[None]] = {}

    async def close(self, grace: float | None = None) -> None:
        """Close the newest channel and all older ones."""
        older, self._older = self._older, {}
        for closing in older.values():
            closing.cancel()
        await asyncio.gather(*older.values(), return_exceptions=True)
        for channel in (*older, self._channel):
            await channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait for another state, or for another channel because the credentials have changed.

        The credentials are checked every second, since a channel with outdated ones may never
        leave its state.
        """
        watched = self._channel
        changed = asyncio.ensure_future(watched.wait_for_state_change(last_observed_state))
        try:
            while self._current() is watched:
                await asyncio.wait([changed], timeout=_ASK_EVERY_S)
                if changed.done():
                    return changed.result()
        finally:
            changed.cancel()

    async def channel_ready(self) -> None:
        while (state := self.get_state(try_to_connect=True)) is not grpc.ChannelConnectivity.READY:
            await self.wait_for_state_change(state)

    def _multi_callable(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
        def begin(*request: Any, **given: Any) -> Any:
            call = getattr(self._current(), kind)(*method, **options)(*request, **given)
            self._calls.add(call)
            return call

        return begin

    def _current(self) -> grpc.aio.Channel:
        shown = self._credentials()
        if shown is not self._shown:
            self._replace(self._opened(shown))
            self._shown = shown
        return self._channel

    def _replace(self, newer: grpc.aio.Channel) -> None:
        older, self._channel = self._channel, newer
        running = [call for call in self._calls if not call.done()]
        self._calls = WeakSet()
        self._older[older] = asyncio.create_task(self._close_after(running, older))

    async def _close_after(self, calls: Sequence[Any], older: grpc.aio.Channel) -> None:
        for call in calls:
            await call.code()
        await older.close()
        self._older.pop(older, None)
