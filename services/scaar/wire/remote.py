"""The base of clients: the calls of a service behind a channel."""

from collections.abc import AsyncGenerator, Callable
from copy import copy
from typing import Any, ClassVar, Self, TypeVar

import grpc
from google.protobuf.message import Message

from scaar.wire.calls import Endpoint, receive, receive_stream, timeout_within
from scaar.wire.request_limits import ServiceLimits

Metadata = tuple[tuple[str, str | bytes], ...]

_Sent = TypeVar("_Sent", bound=Message)
_Value = TypeVar("_Value")


class RemoteService:
    """Calls the methods of a service, by their names, and converts the responses.

    A subclass names its service, the stub, the default timeout of a call, and the limits of the
    contract if requests are checked against them before they are sent.
    """

    _NAME: ClassVar[str]
    _STUB: ClassVar[type[Any]]
    _TIMEOUT_S: ClassVar[float]
    _LIMITS: ClassVar[ServiceLimits | None] = None

    def __init__(
        self,
        channel: grpc.aio.Channel,
        target: str,
        *,
        timeout_s: float | None = None,
        metadata: Metadata = (),
    ) -> None:
        """``timeout_s`` is the timeout of a call; ``metadata`` is sent with every call."""
        self._stub = self._STUB(channel)
        self._endpoint = Endpoint(target, self._NAME)
        self._timeout_s = self._TIMEOUT_S if timeout_s is None else timeout_s
        self._metadata = metadata

    def with_metadata(self, metadata: Metadata) -> Self:
        """Return the client with this metadata, on the same stub: stubs are expensive."""
        found = copy(self)
        found._metadata = metadata
        return found

    async def _call(
        self,
        method: str,
        message: Message,
        read: Callable[[Any], _Value],
        *,
        timeout_s: float | None = None,
        metadata: Metadata = (),
    ) -> _Value:
        """Return the response, converted by ``read``. ``metadata`` is sent in addition."""
        return await receive(
            self._started(method, message, timeout_s, metadata), read, self._endpoint
        )

    def _stream(
        self,
        method: str,
        message: Message,
        read: Callable[[Any], _Value],
        *,
        timeout_s: float | None = None,
        metadata: Metadata = (),
    ) -> AsyncGenerator[_Value, None]:
        """Return the responses of a stream; see :meth:`_call`."""
        return receive_stream(
            self._started(method, message, timeout_s, metadata), read, self._endpoint
        )

    def _checked(self, method: str, message: _Sent) -> _Sent:
        """Return a request that is within the limits.

        Raises:
            InvalidRequest: naming the field that exceeds its limit.
        """
        return message if self._LIMITS is None else self._LIMITS.checked(method, message)

    def _timeout(self, max_s: float | None = None) -> float:
        return timeout_within(self._timeout_s if max_s is None else max_s, self._endpoint)

    def _started(
        self, method: str, message: Message, timeout_s: float | None, metadata: Metadata
    ) -> Any:
        return getattr(self._stub, method)(
            self._checked(method, message),
            timeout=self._timeout(timeout_s),
            metadata=(*self._metadata, *metadata),
        )
