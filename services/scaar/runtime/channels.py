"""Channels to other services."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.runtime.carrying import CarryingChannel
from scaar.runtime.failover import READY_WAIT_S, FailoverChannel
from scaar.runtime.renewing import CredentialsSource, RenewingChannel

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The largest message, either way."""
_UNCHECKED_IDLE_MS = round(1000 * READY_WAIT_S)


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """How a channel calls."""

    attempts: int = 3
    """How often a call that finds the service unavailable is made before its first message came,
    the first time included; 1 for a service that itself retries what it depends on."""
    keepalive_s: float = 60.0
    """Seconds between the pings of a channel with calls under way."""
    keepalive_timeout_s: float = 20.0
    """Seconds without an answer to a ping after which a connection is given up."""


@asynccontextmanager
async def open_channel(
    target: str,
    *,
    service: str = "",
    settings: ChannelSettings | None = None,
    credentials: grpc.ChannelCredentials | CredentialsSource | None = None,
) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to ``dns:///host:port`` and the like, its calls spread over all addresses.

    Without ``credentials`` it is plaintext; with a source of them, new connections are made with
    what the source gives then. Addresses whose ``service`` does not report SERVING are used only
    while there are no others. Nothing is connected yet: a call to a target that could never be
    reached fails as UNAVAILABLE at once. Once a call has reached a server, calls that reach none
    wait for a ready one, for at most :data:`~scaar.runtime.failover.READY_WAIT_S`. A proxy named in
    the environment is not used. A call carries the ids of the request and of the trace that it is
    made for.
    """
    known = settings or ChannelSettings()

    def open_unchecked() -> grpc.aio.Channel:
        # Its connections end when it is not needed any more.
        options = (*channel_options(known), ("grpc.client_idle_timeout_ms", _UNCHECKED_IDLE_MS))
        return opened_channel(target, credentials, options)

    checked = opened_channel(target, credentials, channel_options(known, service))
    failover = FailoverChannel(checked, open_unchecked if service else None)
    async with CarryingChannel(failover) as channel:
        yield channel


def opened_channel(
    target: str,
    credentials: grpc.ChannelCredentials | CredentialsSource | None,
    options: Sequence[tuple[str, object]],
) -> grpc.aio.Channel:
    """A channel whose calls carry nothing on; its credentials are those of :func:`open_channel`."""
    if credentials is None:
        return grpc.aio.insecure_channel(target, options=options)
    if isinstance(credentials, grpc.ChannelCredentials):
        return grpc.aio.secure_channel(target, credentials, options=options)
    return RenewingChannel(
        lambda shown: grpc.aio.secure_channel(target, shown, options=options), credentials
    )


def connected(channel: grpc.aio.Channel) -> Callable[[], bool]:
    """Return what tells whether a call of the channel would not fail for want of a ready server."""
    return lambda: channel.get_state() is not grpc.ChannelConnectivity.TRANSIENT_FAILURE


def channel_options(settings: ChannelSettings, service: str = "") -> tuple[tuple[str, object], ...]:
    """The options of a channel, its service config among them."""
    return (
        ("grpc.service_config", json.dumps(_service_config(settings, service))),
        ("grpc.enable_retries", 1),
        ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.keepalive_time_ms", round(settings.keepalive_s * 1000)),
        ("grpc.keepalive_timeout_ms", round(settings.keepalive_timeout_s * 1000)),
        # Without this gRPC gives a connection up after a minute, whatever the line above says.
        ("grpc.http2.ping_timeout_ms", round(settings.keepalive_timeout_s * 1000)),
        ("grpc.keepalive_permit_without_calls", 0),
        # A name is looked up again when a connection ends or fails, at most once a second.
        ("grpc.dns_min_time_between_resolutions_ms", 1000),
        # A service that comes back is found within about half a second, not within two minutes.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        # The longest that connecting may take, by default 20 s: one who connects to a server that
        # is just stopping may be accepted and never hear of it.
        ("grpc.min_reconnect_backoff_ms", 3000),
        ("grpc.enable_http_proxy", 0),
        # Connections are shared by address otherwise: a new channel would find itself waiting where
        # an older one, to whatever listened there before, has just failed.
        ("grpc.use_local_subchannel_pool", 1),
    )


def _service_config(settings: ChannelSettings, service: str) -> dict[str, object]:
    config: dict[str, object] = {"loadBalancingConfig": [{"round_robin": {}}]}
    if service:
        config["healthCheckConfig"] = {"serviceName": service}
    if settings.attempts > 1:
        retry = {
            "maxAttempts": settings.attempts,
            "initialBackoff": "0.1s",
            "maxBackoff": "1s",
            "backoffMultiplier": 2,
            "retryableStatusCodes": ["UNAVAILABLE"],
        }
        config["methodConfig"] = [{"name": [{}], "retryPolicy": retry}]
        # The documented 10 tokens starve after one failure.
        config["retryThrottling"] = {"maxTokens": 100, "tokenRatio": 0.1}
    return config
