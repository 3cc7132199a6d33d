"""Waiting for a server to report SERVING (grpc.health.v1)."""

import asyncio

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.calls.connection_failures import cause_of
from scaar.core.errors import BackendUnavailable
from scaar.runtime.channels import opened_channel
from scaar.runtime.renewing_channel import CredentialsSource

_RETRY_S = 0.1
_CAUSE_S = 0.5
_SERVING = health_pb2.HealthCheckResponse.SERVING


async def wait_until_serving(
    target: str,
    service: str = "",
    *,
    timeout_s: float = 30.0,
    credentials: grpc.ChannelCredentials | CredentialsSource | None = None,
) -> None:
    """Wait until the service reports SERVING. The server may start later.

    Without ``credentials`` the connection uses plaintext.

    Raises:
        BackendUnavailable: the service did not report SERVING in time.
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
                await asyncio.sleep(_RETRY_S)
    except TimeoutError as error:
        name = service or "the server"
        text = f"{target} did not report {name} as SERVING within {timeout_s:g} s"
        async with opened_channel(target, credentials, options) as channel:
            cause = await _cause(channel)
        raise BackendUnavailable(f"{text}: {cause}" if cause else text, target=target) from error


async def is_serving(channel: grpc.aio.Channel, service: str, *, timeout_s: float) -> bool:
    """Return whether the service reports SERVING now."""
    request = health_pb2.HealthCheckRequest(service=service)
    try:
        response = await health_pb2_grpc.HealthStub(channel).Check(request, timeout=timeout_s)
    except grpc.aio.AioRpcError:
        return False
    return bool(response.status == _SERVING)


async def _cause(channel: grpc.aio.Channel) -> str:
    """Return why connections fail, or the empty string."""
    check = health_pb2_grpc.HealthStub(channel).Check
    try:
        await check(health_pb2.HealthCheckRequest(), timeout=_CAUSE_S)
    except grpc.aio.AioRpcError as error:
        return cause_of(error.details() or "")
    return ""


async def _reports_serving(channel: grpc.aio.Channel, service: str) -> bool:
    """Watch the service and return whether it reported SERVING before the watch ended."""
    request = health_pb2.HealthCheckRequest(service=service)
    call = health_pb2_grpc.HealthStub(channel).Watch(request, wait_for_ready=True)
    try:
        async for response in call:
            if response.status == _SERVING:
                return True
    except grpc.aio.AioRpcError:
        return False
    finally:
        call.cancel()
    return False
