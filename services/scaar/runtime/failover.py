"""Failover of calls that reach no server."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from typing import Any

import grpc

from scaar.core.calls.connection_failures import is_unreached
from scaar.runtime.wrapped_channel import WrappedChannel

READY_WAIT_S = 3.0
"""Maximum time that a call waits for a ready server, in seconds."""

_LOST = grpc.ChannelConnectivity.TRANSIENT_FAILURE
# Only calls with a single request can be retried.
_REPEATABLE = ("unary_unary", "unary_stream")


class FailoverChannel(WrappedChannel):
    """Channel that retries calls that reached no server.

    A call is first retried on a server that does not report SERVING, such as a draining one. If
    there is none either, the call waits for a ready server, at most :data:`READY_WAIT_S` and its
    own timeout. Until a first call has reached a server, calls fail immediately, so that a wrong
    target is reported without delay.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        open_unchecked: Callable[[], grpc.aio.Channel] | None = None,
    ) -> None:
        """``open_unchecked`` opens a channel to the same target that ignores health."""
        super().__init__(channel)
        self._open_unchecked = open_unchecked
        self._unchecked: grpc.aio.Channel | None = None
        self._reached = False

    async def close(self, grace: float | None = None) -> None:
        if self._unchecked is not None:
            await self._unchecked.close(grace)
        await self._channel.close(grace)

    def _multi_callable(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
        if kind not in _REPEATABLE:
            return getattr(self._channel, kind)(*method, **options)  # type: ignore[no-any-return]

        def on(channel: grpc.aio.Channel) -> Any:
            return getattr(channel, kind)(*method, **options)

        main = on(self._channel)

        def begin(*request: Any, timeout: float | None = None, **given: Any) -> FailoverCall:
            def attempt(unchecked: grpc.aio.Channel | None, timeout_s: float | None) -> Any:
                callee = main if unchecked is None else on(unchecked)
                return callee(*request, timeout=timeout_s, **given)

            return FailoverCall(self, attempt, timeout)

        return begin

    def preferred(self) -> grpc.aio.Channel | None:
        """Return the channel that ignores health while no ready server is known, else None."""
        lost = self._reached and self._channel.get_state() is _LOST
        return self.unchecked() if lost else None

    def unchecked(self) -> grpc.aio.Channel | None:
        """Return the channel that ignores health; None if the target's health is not checked."""
        if self._unchecked is None and self._open_unchecked is not None:
            self._unchecked = self._open_unchecked()
        return self._unchecked

    def lost(self, error: grpc.aio.AioRpcError) -> bool:
        """Return whether a call that failed with this error should be retried."""
        unavailable = error.code() is grpc.StatusCode.UNAVAILABLE
        if unavailable and is_unreached(error.details() or ""):
            return self._reached
        self._reached = True
        return False

    def reached(self) -> None:
        """Note that a server was reached."""
        self._reached = True

    async def ready_by(self, until: float) -> bool:
        """Wait for a ready server until this event loop time; return whether there is one."""
        try:
            async with asyncio.timeout_at(until):
                await self._channel.channel_ready()
        except TimeoutError:
            return False
        return True


class FailoverCall:
    """Call that is retried until it reaches a server.

    It can be awaited, iterated and cancelled like a call of grpc.aio. Other attributes are those
    of the last attempt.
    """

    def __init__(
        self,
        channel: FailoverChannel,
        attempt: Callable[[grpc.aio.Channel | None, float | None], Any],
        timeout_s: float | None,
    ) -> None:
        self._channel, self._attempt = channel, attempt
        self._until = None if timeout_s is None else _now() + timeout_s
        self._waits_until: float | None = None
        self._checked = True
        self._begin(channel.preferred())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._answer().__await__()

    async def __aiter__(self) -> AsyncGenerator[Any, None]:
        started = False
        while True:
            try:
                async with aclosing(aiter(self._call)) as messages:
                    async for message in messages:
                        if not started:
                            started = True
                            self._channel.reached()
                        yield message
                return
            except grpc.aio.AioRpcError as error:
                if started or not await self._retried(error):
                    raise

    async def _answer(self) -> Any:
        while True:
            try:
                answer = await self._call
            except grpc.aio.AioRpcError as error:
                if not await self._retried(error):
                    raise
            else:
                self._channel.reached()
                return answer

    async def _retried(self, error: grpc.aio.AioRpcError) -> bool:
        if not self._channel.lost(error):
            return False
        if self._waits_until is None:
            until = _now() + READY_WAIT_S
            self._waits_until = until if self._until is None else min(until, self._until)
        if _now() >= self._waits_until:
            return False
        unchecked = self._channel.unchecked() if self._checked else None
        if unchecked is None and not await self._channel.ready_by(self._waits_until):
            return False
        self._begin(unchecked)
        return True

    def _begin(self, unchecked: grpc.aio.Channel | None) -> None:
        self._checked = unchecked is None
        timeout_s = None if self._until is None else max(self._until - _now(), 0.001)
        self._call = self._attempt(unchecked, timeout_s)


def _now() -> float:
    return asyncio.get_running_loop().time()
