"""Health service of a server (grpc.health.v1), and a server of its own for probes.

The service ``""`` is liveness of the process, the name of a service its readiness.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.errors import NotFound
from scaar.runtime.addresses import SERVER_OPTIONS, check_free, listen
from scaar.runtime.interceptors import ErrorInterceptor, StatusOf

_Response = health_pb2.HealthCheckResponse
_SETTING = "health_address"


class HealthServicer(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """Serves the health of services, initially NOT_SERVING.

    The servicer of grpcio-health-checking forgets the other watchers of a service when one leaves,
    and its watches delay the shutdown of a server.
    """

    def __init__(self, services: Sequence[str]) -> None:
        self._serving = {"": True, **dict.fromkeys(services, False)}
        self._changed = asyncio.Event()
        self._ended = False

    def set_serving(self, service: str, serving: bool) -> None:
        """Set whether the service is ready."""
        self._serving[service] = serving
        self._announce()

    def end(self) -> None:
        """End every watch."""
        self._ended = True
        self._announce()

    async def Check(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> health_pb2.HealthCheckResponse:
        if request.service not in self._serving:
            raise NotFound(f"this server has no service {request.service!r}")
        return _Response(status=self._status(request.service))

    async def Watch(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> AsyncGenerator[health_pb2.HealthCheckResponse, None]:
        reported = None
        while not self._ended:
            changed, status = self._changed, self._status(request.service)
            if status != reported:
                yield _Response(status=status)
                reported = status
            await changed.wait()

    def _status(self, service: str) -> int:
        match self._serving.get(service):
            case None:
                return int(_Response.SERVICE_UNKNOWN)
            case True:
                return int(_Response.SERVING)
            case _:
                return int(_Response.NOT_SERVING)

    def _announce(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


@asynccontextmanager
async def open_health_server(
    health: HealthServicer, address: str | None, *, status_of: StatusOf
) -> AsyncIterator[str | None]:
    """Serve ``health`` on an additional address, in plaintext, until the block ends.

    Yields the address with the bound port, or None without an ``address``.

    Raises:
        AlreadyExists: the address is in use.
        InvalidRequest: the address is invalid, or cannot be bound.
    """
    if address is None:
        yield None
        return
    check_free(address, setting=_SETTING)
    server = grpc.aio.server(interceptors=[ErrorInterceptor(status_of)], options=SERVER_OPTIONS)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    bound = listen(server, address, setting=_SETTING)
    await server.start()
    try:
        yield bound
    finally:
        await server.stop(0)
