"""Base of channels that wrap another channel."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import grpc


class WrappedChannel(grpc.aio.Channel):
    """Channel that begins calls on another one in a way of its own.

    No interceptor: those of grpc.aio put a task of their own around every call.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    @abstractmethod
    def _begins(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
        """Return what begins calls of a method; ``kind`` is ``unary_unary`` and so on."""

    async def __aenter__(self) -> Self:
        await self._channel.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.close()

    async def close(self, grace: float | None = None) -> None:
        await self._channel.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._channel.channel_ready()

    def unary_unary(self, *method: Any, **options: Any) -> Any:
        return self._begins("unary_unary", *method, **options)

    def unary_stream(self, *method: Any, **options: Any) -> Any:
        return self._begins("unary_stream", *method, **options)

    def stream_unary(self, *method: Any, **options: Any) -> Any:
        return self._begins("stream_unary", *method, **options)

    def stream_stream(self, *method: Any, **options: Any) -> Any:
        return self._begins("stream_stream", *method, **options)
