"""The services behind the console, as callers reach them: with their own identity."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.console.settings import ConsoleSettings
from scaar.core.ports import Answerer, Catalog, Evaluator, Records
from scaar.http_server.callers import Metadata, caller_metadata, needs_tokens
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.health import is_serving
from scaar.wire import evaluator, orchestrator, records

_READY_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of the services, whose calls carry the identity of a caller.

    A service that is not configured is None.
    """

    answerer: Answerer
    catalog: Catalog
    records: Records | None = None
    evaluator: Evaluator | None = None


@dataclass(frozen=True, slots=True)
class BackEnd:
    """A service: its role, its target, and its channel; without a target it is not configured."""

    role: str
    target: str
    full_name: str
    channel: grpc.aio.Channel | None = None


class BackEnds:
    """The services, each behind a channel that all callers share."""

    def __init__(self, services: Mapping[str, BackEnd], *, require_token: bool = False) -> None:
        self.services = services
        self._require_token = require_token

    def ports(self, headers: Mapping[str, str], request_id: str) -> Ports:
        """Return the ports for a caller.

        Raises:
            Unauthenticated: the token is missing, or is none.
        """
        metadata = caller_metadata(headers, request_id, require_token=self._require_token)
        asked, kept, evaluated = (
            self.services[role] for role in ("orchestrator", "records", "evaluator")
        )
        assert asked.channel is not None
        return Ports(
            orchestrator.RemoteAnswerer(asked.channel, asked.target, metadata=metadata),
            orchestrator.RemoteCatalog(asked.channel, asked.target, metadata=metadata),
            _records(kept, metadata),
            _evaluator(evaluated, metadata),
        )

    async def are_serving(self) -> Mapping[str, bool]:
        """Return whether each service reports that it serves, by its role."""
        found = await asyncio.gather(*map(_is_serving, self.services.values()))
        return dict(zip(self.services, found, strict=True))


@asynccontextmanager
async def open_back_ends(settings: ConsoleSettings) -> AsyncIterator[BackEnds]:
    """Open channels to the services that are configured.

    Raises:
        InvalidRequest: a setting is invalid.
    """
    named = (
        ("orchestrator", settings.orchestrator_target, orchestrator.SERVICE_NAME),
        ("records", settings.records_target, records.SERVICE_NAME),
        ("evaluator", settings.evaluator_target, evaluator.SERVICE_NAME),
    )
    credentials = read_channel_credentials(with_token=False)
    async with AsyncExitStack() as stack:
        services = {}
        for role, target, full_name in named:
            channel = None
            if target:
                # An orchestrator retries the calls of its dependencies: retries have one layer.
                opening = open_channel(
                    target,
                    service=full_name,
                    settings=ChannelSettings(attempts=2),
                    credentials=credentials,
                )
                channel = await stack.enter_async_context(opening)
            services[role] = BackEnd(role, target, full_name, channel)
        yield BackEnds(services, require_token=settings.require_token or needs_tokens())


async def _is_serving(service: BackEnd) -> bool:
    if service.channel is None:
        return False
    return await is_serving(service.channel, service.full_name, timeout_s=_READY_TIMEOUT_S)


def _records(service: BackEnd, metadata: Metadata) -> Records | None:
    if service.channel is None:
        return None
    return records.RemoteRecords(service.channel, service.target, metadata=metadata)


def _evaluator(service: BackEnd, metadata: Metadata) -> Evaluator | None:
    if service.channel is None:
        return None
    return evaluator.RemoteEvaluator(service.channel, service.target, metadata=metadata)
