"""The orchestrator as callers of the gateway reach it: with their own identity."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.core.errors import Unauthenticated
from scaar.core.tenancy import TENANT_KEY
from scaar.runtime.channel_security import ChannelSecurity, read_channel_credentials
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.targets import check_target
from scaar.wire.calls import REQUEST_ID_KEY
from scaar.wire.orchestrator import SERVICE_NAME, RemoteAnswerer, RemoteCatalog

AUTHORIZATION = "authorization"
FORWARDED = (TENANT_KEY, "traceparent", "tracestate")
"""Headers that the orchestrator gets as metadata, beside the token and the request id."""
CATALOG_TIMEOUT_S = 60.0

Metadata = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Caller:
    """The ports of an orchestrator, whose calls carry the identity of a caller."""

    answerer: RemoteAnswerer
    catalog: RemoteCatalog


class Orchestrator:
    """An orchestrator behind a channel that all callers share."""

    def __init__(
        self, channel: grpc.aio.Channel, target: str, *, require_token: bool = False
    ) -> None:
        self.channel = channel
        self.target = target
        self._require_token = require_token

    def metadata(self, headers: Mapping[str, str], request_id: str) -> Metadata:
        """Return the metadata of a call for a caller: identity, tenant, trace and request id.

        Raises:
            Unauthenticated: the token is missing, or is none.
        """
        authorization = headers.get(AUTHORIZATION, "").strip()
        scheme, _, token = authorization.partition(" ")
        if authorization and not (scheme.lower() == "bearer" and _sendable(token)):
            raise Unauthenticated("the header authorization must be 'Bearer TOKEN'")
        if self._require_token and not token:
            raise Unauthenticated("a bearer token is missing: header authorization, 'Bearer TOKEN'")
        found = ((name, headers.get(name, "")) for name in FORWARDED)
        sent = [(name, value) for name, value in found if value and _sendable(value)]
        if token:
            # Clients without a key send the scheme alone.
            sent.append((AUTHORIZATION, f"Bearer {token}"))
        return (*sent, (REQUEST_ID_KEY, request_id))

    def caller(self, headers: Mapping[str, str], request_id: str) -> Caller:
        """Return the ports of the orchestrator for a caller.

        Raises:
            Unauthenticated: the token is missing, or is none.
        """
        metadata = self.metadata(headers, request_id)
        return Caller(
            RemoteAnswerer(self.channel, self.target, metadata=metadata),
            RemoteCatalog(
                self.channel, self.target, timeout_s=CATALOG_TIMEOUT_S, metadata=metadata
            ),
        )


@asynccontextmanager
async def open_orchestrator(
    target: str, *, require_token: bool = False
) -> AsyncIterator[Orchestrator]:
    """Open a channel to the orchestrator, with the settings ``SCAAR_CHANNEL_*``.

    If these identify this process, callers need a token of their own.

    Raises:
        InvalidRequest: the target or a setting is invalid.
    """
    security = ChannelSecurity.read()
    identified = security.cert_file is not None or security.token_file is not None
    check_target(target)
    # An orchestrator retries the calls of its dependencies: retries have one layer.
    async with open_channel(
        target,
        service=SERVICE_NAME,
        settings=ChannelSettings(attempts=2),
        credentials=read_channel_credentials(),
    ) as channel:
        yield Orchestrator(channel, target, require_token=require_token or identified)


def _sendable(value: str) -> bool:
    return value.isascii() and value.isprintable()
