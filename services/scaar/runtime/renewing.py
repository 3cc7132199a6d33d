"""A channel whose certificates are renewed while it is in use."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

import grpc

from scaar.runtime.wrapped_channel import WrappedChannel

CredentialsSource = Callable[[], grpc.ChannelCredentials]
"""What to open a channel with now: the same object for as long as nothing has changed."""

_ASK_EVERY_S = 1.0


class RenewingChannel(WrappedChannel):
    """A channel whose calls go by new connections once its credentials have changed.

    gRPC gives an open channel no other credentials, so a new channel of gRPC's own takes its place.
    Each call asks whether it is time. It goes by the newest channel, and waits while that connects.
    Calls under way stay on the channel that they began on, which is closed when the last of them
    has ended.
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
        # Weak, as gRPC cancels a call that nobody holds any more.
        self._calls = WeakSet[Any]()
        self._older: dict[grpc.aio.Channel, asyncio.Task[None]] = {}

    async def close(self, grace: float | None = None) -> None:
        """Closes the newest channel and those before it, as gRPC closes one."""
        older, self._older = self._older, {}
        for closing in older.values():
            closing.cancel()
        await asyncio.gather(*older.values(), return_exceptions=True)
        for channel in (*older, self._channel):
            await channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Returns too when another channel has taken the place of the one that was in that state.

        One that cannot connect stays in its state, so the credentials are asked for meanwhile.
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

    def _begins(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
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
        under_way = [call for call in self._calls if not call.done()]
        self._calls = WeakSet()
        self._older[older] = asyncio.create_task(self._close_after(under_way, older))

    async def _close_after(self, calls: Sequence[Any], older: grpc.aio.Channel) -> None:
        for call in calls:
            await call.code()
        await older.close()
        self._older.pop(older, None)
