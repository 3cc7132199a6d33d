"""Health alone, in plaintext: for probers that can show no certificate, as Kubernetes' own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
from grpc_health.v1 import health_pb2_grpc

from scaar.runtime.health import HealthServicer
from scaar.runtime.interceptors import ErrorInterceptor, StatusOf
from scaar.runtime.listening import SERVER_OPTIONS, check_free, listen

_SETTING = "health_address"


@asynccontextmanager
async def open_health_server(
    health: HealthServicer, address: str | None, *, status_of: StatusOf
) -> AsyncIterator[str | None]:
    """Tells what ``health`` tells at an address of its own until the context is left.

    Yields where, with the port that it got; without an ``address`` nothing is opened.

    Raises:
        AlreadyExists: something listens there.
        InvalidRequest: it cannot be listened at.
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
