"""Health of a server (grpc.health.v1), told and asked.

``""`` is liveness: the process. The name of a service is its readiness.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.connection_failures import cause_of
from scaar.core.errors import BackendUnavailable, NotFound
from scaar.runtime.channels import opened_channel
from scaar.runtime.renewing import CredentialsSource

_ASK_AGAIN_S = 0.1
_CAUSE_S = 0.5
_Response = health_pb2.HealthCheckResponse


class HealthServicer(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """Tells of the services by name, none ready yet; every watcher hears of every change.

    The servicer that comes with gRPC forgets the other watchers of a service when one leaves, and
    its watches hold up a server that stops.
    """

    def __init__(self, services: Sequence[str]) -> None:
        self._serving = {"": True, **dict.fromkeys(services, False)}
        self._changed = asyncio.Event()
        self._ended = False

    def set_serving(self, service: str, serving: bool) -> None:
        """Says whether the service is ready."""
        self._serving[service] = serving
        self._announce()

    def end(self) -> None:
        """Ends every watch."""
        self._ended = True
        self._announce()

    async def Check(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> health_pb2.HealthCheckResponse:
        if request.service not in self._serving:
            raise NotFound(f"there is no service {request.service!r} here")
        return _Response(status=self._status(request.service))

    async def Watch(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> AsyncGenerator[health_pb2.HealthCheckResponse, None]:
        told = None
        while not self._ended:
            changed, status = self._changed, self._status(request.service)
            if status != told:
                yield _Response(status=status)
                told = status
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


async def wait_until_serving(
    target: str,
    service: str = "",
    *,
    timeout_s: float = 30.0,
    credentials: grpc.ChannelCredentials | CredentialsSource | None = None,
) -> None:
    """Returns as soon as the service reports SERVING; the server need not be there yet.

    Without ``credentials`` it is asked in plaintext.

    Raises:
        BackendUnavailable: it did not within the time.
    """
    options = (
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    )
    try:
        async with (
            asyncio.timeout(timeout_s),
            opened_channel(target, credentials, options) as channel,
        ):
            while True:
                if await _reports_serving(channel, service):
                    return
                await asyncio.sleep(_ASK_AGAIN_S)
    except TimeoutError as error:
        name = service or "the server"
        text = f"{target} did not report {name} as serving within {timeout_s:g} s"
        async with opened_channel(target, credentials, options) as channel:
            cause = await _cause(channel)
        raise BackendUnavailable(f"{text}: {cause}" if cause else text, target=target) from error


async def _cause(channel: grpc.aio.Channel) -> str:
    """Why no connection is made, where one is refused that would be made otherwise."""
    check = health_pb2_grpc.HealthStub(channel).Check
    try:
        await check(health_pb2.HealthCheckRequest(), timeout=_CAUSE_S)
    except grpc.aio.AioRpcError as error:
        return cause_of(error.details() or "")
    return ""


async def _reports_serving(channel: grpc.aio.Channel, service: str) -> bool:
    """Whether a watch of the service comes to see it serving before it breaks off."""
    request = health_pb2.HealthCheckRequest(service=service)
    call = health_pb2_grpc.HealthStub(channel).Watch(request, wait_for_ready=True)
    try:
        async for response in call:
            if response.status == _Response.SERVING:
                return True
    except grpc.aio.AioRpcError:
        return False
    finally:
        call.cancel()
    return False
