"""Server of one or more services."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.runtime.addresses import SERVER_OPTIONS, check_free, listen
from scaar.runtime.admission import Admission
from scaar.runtime.call_metadata import CallContextInterceptor
from scaar.runtime.channels import MAX_MESSAGE_BYTES
from scaar.runtime.health_server import HealthServicer, open_health_server
from scaar.runtime.identities import read_identities
from scaar.runtime.identity import IdentityInterceptor
from scaar.runtime.interceptors import (
    AdmissionInterceptor,
    DeadlineInterceptor,
    ErrorInterceptor,
    StatusOf,
)
from scaar.runtime.readiness import Check, Need, watch_readiness
from scaar.runtime.reflection import add_reflection
from scaar.runtime.request_limits import RequestLimitInterceptor, RequestLimits, receive_bytes
from scaar.runtime.server_tls import server_credentials
from scaar.runtime.settings import ServiceSettings
from scaar.runtime.tenant_limits import TenantLimitInterceptor, TenantLimits

_OPTIONS = (*SERVER_OPTIONS, ("grpc.max_send_message_length", MAX_MESSAGE_BYTES))


class Servicer(Protocol):
    """A service that can be added to a server."""

    @property
    def service_name(self) -> str:
        """Full name of the service in the contract."""
        ...

    @property
    def limits(self) -> RequestLimits:
        """Limits of the requests of the service."""
        ...

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service."""
        ...


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server."""

    address: str
    """Address with the bound port."""
    server: grpc.aio.Server
    health: HealthServicer
    admission: Admission
    health_address: str | None = None
    """Additional address of health checks in plaintext, if configured."""

    @property
    def target(self) -> str:
        """Target of the server for clients on the same machine."""
        host, _, port = self.address.rpartition(":")
        return f"127.0.0.1:{port}" if host in ("0.0.0.0", "[::]") else self.address

    async def wait(self) -> None:
        """Wait until the server has stopped."""
        await self.server.wait_for_termination()


@asynccontextmanager
async def open_server(
    servicers: Sequence[Servicer],
    address: str,
    settings: ServiceSettings,
    *,
    status_of: StatusOf,
    needs: Sequence[Need] = (),
    check: Check | None = None,
    observers: Sequence[grpc.aio.ServerInterceptor] = (),
) -> AsyncIterator[RunningServer]:
    """Serve until the block ends, then drain and stop as configured.

    Health is served for ``""``, the process, and for every service by name. A service is ready
    while all ``needs`` are serving and the ``check`` passes. ``status_of`` maps an error to its
    status. The ``observers`` are the outermost interceptors, so that they see how a call ends.

    Raises:
        AlreadyExists: ``address`` or the health address is in use.
        InvalidRequest: an address cannot be bound, or a file of the settings is unusable.
    """
    credentials, identities = server_credentials(settings), read_identities(settings)
    check_free(address)
    admission = Admission(settings.max_concurrent_calls)
    interceptors = [CallContextInterceptor(), *observers, ErrorInterceptor(status_of)]
    if identities is not None:
        interceptors.append(IdentityInterceptor(identities))
    if settings.tenant_calls_per_s is not None or settings.tenant_concurrent_calls is not None:
        interceptors.append(TenantLimitInterceptor(TenantLimits(settings)))
    limits = {servicer.service_name: servicer.limits for servicer in servicers}
    interceptors += [
        AdmissionInterceptor(admission),
        DeadlineInterceptor(settings.max_call_s),
        RequestLimitInterceptor(limits),
    ]
    largest = ("grpc.max_receive_message_length", receive_bytes(limits.values()))
    options = (*server_options(settings), largest)
    server = grpc.aio.server(interceptors=interceptors, options=options)
    names = list(limits)
    for servicer in servicers:
        servicer.add_to(server)
    health = HealthServicer(names)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    if settings.reflection:
        health_name = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
        add_reflection(server, (*names, health_name))
    bound = listen(server, address, credentials)

    def set_ready(ready: bool) -> None:
        for name in names:
            health.set_serving(name, ready)

    async with open_health_server(
        health, settings.health_address, status_of=status_of
    ) as health_address:
        await server.start()
        try:
            async with watch_readiness(needs, set_ready, check=check):
                yield RunningServer(bound, server, health, admission, health_address)
        finally:
            set_ready(False)
            await asyncio.sleep(settings.drain_s)
            health.end()
            await server.stop(settings.stop_grace_s)


def server_options(settings: ServiceSettings) -> tuple[tuple[str, int], ...]:
    """Return the gRPC options of a server."""
    seconds = {
        "grpc.max_connection_age_ms": settings.max_connection_age_s,
        "grpc.max_connection_idle_ms": settings.max_connection_idle_s,
        # After its maximum age a connection stays open for as long as a call may take.
        "grpc.max_connection_age_grace_ms": settings.max_call_s + 1,
        "grpc.keepalive_time_ms": settings.keepalive_s,
        "grpc.keepalive_timeout_ms": settings.keepalive_timeout_s,
        # Without this gRPC closes a connection after a minute, whatever the timeout above.
        "grpc.http2.ping_timeout_ms": settings.keepalive_timeout_s,
        "grpc.http2.min_ping_interval_without_data_ms": settings.min_ping_interval_s,
    }
    return (
        *_OPTIONS,
        ("grpc.max_allowed_incoming_connections", settings.max_connections),
        *((name, round(value * 1000)) for name, value in seconds.items()),
    )
