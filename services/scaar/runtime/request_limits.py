"""Limits of requests, enforced before a request is parsed."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import grpc

from scaar.runtime.handlers import Continuation, Handler

MIN_RECEIVE_BYTES = 1024 * 1024
"""Minimum receive limit of a server; larger if its contract permits larger requests."""


class RequestLimits(Protocol):
    """The limits of the requests of a service."""

    @property
    def max_request_bytes(self) -> int:
        """The size of the largest request that any method accepts."""
        ...

    def check(self, method: str, request: bytes) -> None:
        """Pass a serialized request that is within the limits of the method.

        Raises:
            InvalidRequest: naming the field that is over its limit.
        """
        ...


def receive_bytes(limits: Iterable[RequestLimits]) -> int:
    """Return the size above which a server refuses a message before it has read it.

    It is at least 1 MiB, so that a request that is only a few times too large gets an error that
    names the field and the limit; gRPC itself answers the others with RESOURCE_EXHAUSTED.
    """
    return max((MIN_RECEIVE_BYTES, *(each.max_request_bytes for each in limits)))


class RequestLimitInterceptor(grpc.aio.ServerInterceptor):
    """Checks the serialized requests of each service; the innermost interceptor."""

    def __init__(self, limits: Mapping[str, RequestLimits]) -> None:
        self._limits = limits

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        handler: Any = await continuation(handler_call_details)
        _, service, method = handler_call_details.method.split("/", 2)
        if handler is None or (limits := self._limits.get(service)) is None:
            return handler  # type: ignore[no-any-return]
        parse = handler.request_deserializer

        def decode(request: bytes) -> Any:
            limits.check(method, request)
            return parse(request)

        return handler._replace(request_deserializer=decode)  # type: ignore[no-any-return]
