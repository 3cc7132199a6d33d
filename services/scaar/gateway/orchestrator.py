"""The orchestrator as callers of the gateway reach it: with their own identity."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.http_server.callers import Metadata, caller_metadata, needs_tokens
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.wire.orchestrator import SERVICE_NAME, RemoteAnswerer, RemoteCatalog

CATALOG_TIMEOUT_S = 60.0


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
        self._answerer = RemoteAnswerer(channel, target)
        self._catalog = RemoteCatalog(channel, target, timeout_s=CATALOG_TIMEOUT_S)

    def metadata(self, headers: Mapping[str, str], request_id: str) -> Metadata:
        """Return the metadata of a call for a caller: identity, tenant, trace and request id.

        Raises:
            Unauthenticated: the token is missing, or is none.
        """
        return caller_metadata(headers, request_id, require_token=self._require_token)

    def caller(self, headers: Mapping[str, str], request_id: str) -> Caller:
        """Return the ports of the orchestrator for a caller.

        Raises:
            Unauthenticated: the token is missing, or is none.
        """
        metadata = self.metadata(headers, request_id)
        return Caller(self._answerer.with_metadata(metadata), self._catalog.with_metadata(metadata))


@asynccontextmanager
async def open_orchestrator(
    target: str, *, require_token: bool = False
) -> AsyncIterator[Orchestrator]:
    """Open a channel to the orchestrator, with the settings ``SCAAR_CHANNEL_*``.

    If these identify this process, callers need a token of their own.

    Raises:
        InvalidRequest: a setting is invalid.
    """
    # An orchestrator retries the calls of its dependencies: retries have one layer.
    async with open_channel(
        target,
        service=SERVICE_NAME,
        settings=ChannelSettings(attempts=2),
        credentials=read_channel_credentials(with_token=False),
    ) as channel:
        yield Orchestrator(channel, target, require_token=require_token or needs_tokens())
