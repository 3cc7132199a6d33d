"""Channels to other services."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.runtime.call_metadata import PropagatingChannel
from scaar.runtime.failover import READY_WAIT_S, FailoverChannel
from scaar.runtime.renewing_channel import CredentialsSource, RenewingChannel

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Maximum size of a message in either direction."""
_UNCHECKED_IDLE_MS = round(1000 * READY_WAIT_S)


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """Retries and keepalive of a channel."""

    attempts: int = 3
    """Maximum number of attempts of a call that fails with UNAVAILABLE before its first message.
    Use 1 for a service that itself retries its dependencies."""
    keepalive_s: float = 60.0
    """Seconds between keepalive pings while calls are in progress."""
    keepalive_timeout_s: float = 20.0
    """Seconds to wait for the reply to a ping before the connection is closed."""


@asynccontextmanager
async def open_channel(
    target: str,
    *,
    service: str = "",
    settings: ChannelSettings | None = None,
    credentials: grpc.ChannelCredentials | CredentialsSource | None = None,
) -> AsyncIterator[grpc.aio.Channel]:
    """Open a channel to ``dns:///host:port`` that balances calls over all addresses.

    Without ``credentials`` it uses plaintext; with a source of credentials, new connections use
    the current ones. An address whose ``service`` does not report SERVING is used only if there is
    no other. The channel connects with the first call: a call to a target that was never reached
    fails immediately with UNAVAILABLE. After a first call has reached a server, calls that reach
    none wait for a ready one, at most :data:`~scaar.runtime.failover.READY_WAIT_S`. Proxies named
    in the environment are ignored. Calls propagate request id and trace context.
    """
    known = settings or ChannelSettings()

    def open_unchecked() -> grpc.aio.Channel:
        # Its connections close once it is no longer used.
        options = (*channel_options(known), ("grpc.client_idle_timeout_ms", _UNCHECKED_IDLE_MS))
        return opened_channel(target, credentials, options)

    checked = opened_channel(target, credentials, channel_options(known, service))
    failover = FailoverChannel(checked, open_unchecked if service else None)
    async with PropagatingChannel(failover) as channel:
        yield channel


def opened_channel(
    target: str,
    credentials: grpc.ChannelCredentials | CredentialsSource | None,
    options: Sequence[tuple[str, object]],
) -> grpc.aio.Channel:
    """Return a channel without propagation and failover; see :func:`open_channel`."""
    if credentials is None:
        return grpc.aio.insecure_channel(target, options=options)
    if isinstance(credentials, grpc.ChannelCredentials):
        return grpc.aio.secure_channel(target, credentials, options=options)
    return RenewingChannel(
        lambda shown: grpc.aio.secure_channel(target, shown, options=options), credentials
    )


def connected(channel: grpc.aio.Channel) -> Callable[[], bool]:
    """Return a function that returns whether the channel is not in TRANSIENT_FAILURE."""
    return lambda: channel.get_state() is not grpc.ChannelConnectivity.TRANSIENT_FAILURE


def channel_options(settings: ChannelSettings, service: str = "") -> tuple[tuple[str, object], ...]:
    """Return the options of a channel, including its service config."""
    return (
        ("grpc.service_config", json.dumps(_service_config(settings, service))),
        ("grpc.enable_retries", 1),
        ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.keepalive_time_ms", round(settings.keepalive_s * 1000)),
        ("grpc.keepalive_timeout_ms", round(settings.keepalive_timeout_s * 1000)),
        # Without this gRPC closes a connection after a minute, whatever the timeout above.
        ("grpc.http2.ping_timeout_ms", round(settings.keepalive_timeout_s * 1000)),
        ("grpc.keepalive_permit_without_calls", 0),
        # A name is resolved again when a connection closes or fails, at most once a second.
        ("grpc.dns_min_time_between_resolutions_ms", 1000),
        # Reconnects within about half a second of a restart instead of within two minutes.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        # Maximum time to connect, by default 20 s: a server that is stopping may accept a
        # connection and never answer.
        ("grpc.min_reconnect_backoff_ms", 3000),
        ("grpc.enable_http_proxy", 0),
        # Otherwise channels share connections by address: a new channel would inherit the backoff
        # of an older one to a previous server at the same address.
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
        # The documented 10 tokens are used up after one failure.
        config["retryThrottling"] = {"maxTokens": 100, "tokenRatio": 0.1}
    return config
