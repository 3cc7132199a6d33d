"""Base of channels that wrap another channel."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import grpc


class WrappedChannel(grpc.aio.Channel):
    """Base of channels that change how calls of another channel start.

    Interceptors of grpc.aio are not used, since they add a task to every call.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    @abstractmethod
    def _multi_callable(self, kind: str, *method: Any, **options: Any) -> Callable[..., Any]:
        """Return the multi-callable of a method; ``kind`` is ``unary_unary`` and so on."""

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
        return self._multi_callable("unary_unary", *method, **options)

    def unary_stream(self, *method: Any, **options: Any) -> Any:
        return self._multi_callable("unary_stream", *method, **options)

    def stream_unary(self, *method: Any, **options: Any) -> Any:
        return self._multi_callable("stream_unary", *method, **options)

    def stream_stream(self, *method: Any, **options: Any) -> Any:
        return self._multi_callable("stream_stream", *method, **options)
