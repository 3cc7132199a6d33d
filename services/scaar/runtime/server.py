"""The one way to run a server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from scaar.runtime.admission import Admission
from scaar.runtime.carrying import CallContextInterceptor
from scaar.runtime.channels import MAX_MESSAGE_BYTES
from scaar.runtime.health import HealthServicer
from scaar.runtime.health_server import open_health_server
from scaar.runtime.identities import read_identities
from scaar.runtime.identity import IdentityInterceptor
from scaar.runtime.interceptors import (
    AdmissionInterceptor,
    DeadlineInterceptor,
    ErrorInterceptor,
    StatusOf,
)
from scaar.runtime.listening import SERVER_OPTIONS, check_free, listen
from scaar.runtime.readiness import Check, Need, watching
from scaar.runtime.request_limits import RequestLimitInterceptor, RequestLimits, receive_bytes
from scaar.runtime.server_tls import server_credentials
from scaar.runtime.settings import ServiceSettings
from scaar.runtime.tenant_limits import TenantLimitInterceptor, TenantLimits

_OPTIONS = (*SERVER_OPTIONS, ("grpc.max_send_message_length", MAX_MESSAGE_BYTES))


class Servicer(Protocol):
    """A service that can be added to a server."""

    @property
    def service_name(self) -> str:
        """Its full name in the contract."""
        ...

    @property
    def limits(self) -> RequestLimits:
        """The limits of its requests."""
        ...

    def add_to(self, server: grpc.aio.Server) -> None:
        """Registers it."""
        ...


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that serves until its context is left."""

    address: str
    """Where it listens, with the port that it got."""
    server: grpc.aio.Server
    health: HealthServicer
    admission: Admission
    health_address: str | None = None
    """Where health alone is told in plaintext, where the settings say so."""

    @property
    def target(self) -> str:
        """Where a client on the same machine finds it."""
        host, _, port = self.address.rpartition(":")
        return f"127.0.0.1:{port}" if host in ("0.0.0.0", "[::]") else self.address

    async def wait(self) -> None:
        """Returns when the server has stopped."""
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
    """Serves until the context is left, then drains and stops as the settings say.

    Health is served for ``""``, the process, and for every service by name: it is ready while all
    that it ``needs`` serves and its ``check`` passes. Reflection is served if the settings say so.
    ``status_of`` tells the status of an error. The ``observers`` stand outside of everything else,
    so that they see how a call ends.

    Raises:
        AlreadyExists: something listens at the address, or at that of health.
        InvalidRequest: an address cannot be listened at, or a file of the settings not be used.
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
        told = (*names, health_name, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(told, server)
    bound = listen(server, address, credentials)

    def tell(ready: bool) -> None:
        for name in names:
            health.set_serving(name, ready)

    async with open_health_server(
        health, settings.health_address, status_of=status_of
    ) as health_address:
        await server.start()
        try:
            async with watching(needs, tell, check=check):
                yield RunningServer(bound, server, health, admission, health_address)
        finally:
            tell(False)
            await asyncio.sleep(settings.drain_s)
            health.end()
            await server.stop(settings.stop_grace_s)


def server_options(settings: ServiceSettings) -> tuple[tuple[str, int], ...]:
    """The options of a server."""
    seconds = {
        "grpc.max_connection_age_ms": settings.max_connection_age_s,
        "grpc.max_connection_idle_ms": settings.max_connection_idle_s,
        # A connection past its age lives on until its longest call can have ended.
        "grpc.max_connection_age_grace_ms": settings.max_call_s + 1,
        "grpc.keepalive_time_ms": settings.keepalive_s,
        "grpc.keepalive_timeout_ms": settings.keepalive_timeout_s,
        # Without this gRPC gives a connection up after a minute, whatever the line above says.
        "grpc.http2.ping_timeout_ms": settings.keepalive_timeout_s,
        "grpc.http2.min_ping_interval_without_data_ms": settings.min_ping_interval_s,
    }
    return (
        *_OPTIONS,
        ("grpc.max_allowed_incoming_connections", settings.max_connections),
        *((name, round(value * 1000)) for name, value in seconds.items()),
    )
