"""Access to an installation: targets, certificates, token and metrics."""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import grpc
import pytest

FILES = ("SCAAR_TLS_CA_FILE", "SCAAR_TLS_CERT_FILE", "SCAAR_TLS_KEY_FILE")
ORCHESTRATOR = "scaar.v1.OrchestratorService"
EVALUATOR = "scaar.v1.EvaluatorService"
RECORDS = "scaar.v1.RecordsService"
INDEX = "lab"
QUESTION = "Who is the father of the director of the film The Haunted Fountain?"


@dataclass(frozen=True, slots=True)
class Access:
    """Addresses and credentials for a client of an installation."""

    target: str
    """Of the orchestrator."""
    evaluator_target: str = ""
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    token: str = ""
    metrics: Callable[[], tuple[str, ...]] = tuple
    """Returns the current URLs of metrics."""
    index: str = INDEX
    question: str = QUESTION
    gateways: tuple[str, ...] = ()
    """URLs of gateways, of which some may not be running."""
    consoles: tuple[str, ...] = ()
    """The same of consoles."""
    records_target: str = ""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self | None:
        """That of the installation that the environment names; None where it names none.

        Raises:
            UsageError: naming the variable that is wrong.
        """
        given = {name: value for name, value in environment.items() if value}
        wanting = [name for name in _VARIABLES if name in given and "SCAAR_TARGET" not in given]
        if wanting:
            raise pytest.UsageError(f"{wanting[0]} goes with SCAAR_TARGET, which is not set")
        if "SCAAR_TARGET" not in given:
            return None
        ca, cert, key = (_file(name, given.get(name)) for name in FILES)
        if (cert is None) != (key is None):
            raise pytest.UsageError(f"{FILES[1]} and {FILES[2]} go together")
        if ca is None and (cert is not None or "SCAAR_TOKEN" in given):
            raise pytest.UsageError(f"SCAAR_TOKEN and {FILES[1]} go by TLS: set {FILES[0]}")
        urls = tuple(given.get("SCAAR_METRICS_URLS", "").replace(",", " ").split())
        wrong = [url for url in urls if not url.startswith(("http://", "https://"))]
        if wrong:
            raise pytest.UsageError(f"SCAAR_METRICS_URLS: {wrong[0]!r} is no http:// or https://")
        return cls(
            target=given["SCAAR_TARGET"],
            evaluator_target=given.get("SCAAR_EVALUATOR_TARGET", ""),
            ca=ca,
            cert=cert,
            key=key,
            token=given.get("SCAAR_TOKEN", ""),
            metrics=lambda: urls,
            index=given.get("SCAAR_INDEX", INDEX),
            question=given.get("SCAAR_QUESTION", QUESTION),
            gateways=_url("SCAAR_GATEWAY_URL", given),
            consoles=_url("SCAAR_CONSOLE_URL", given),
            records_target=given.get("SCAAR_RECORDS_TARGET", ""),
        )

    def credentials(self) -> grpc.ChannelCredentials | None:
        """Return the channel credentials; None for plaintext."""
        if self.ca is None:
            return None
        shown = self.cert and self.key
        secured = grpc.ssl_channel_credentials(
            self.ca.read_bytes(),
            private_key=self.key.read_bytes() if shown and self.key else None,
            certificate_chain=self.cert.read_bytes() if shown and self.cert else None,
        )
        if not self.token:
            return secured
        token = grpc.access_token_call_credentials(self.token)
        return grpc.composite_channel_credentials(secured, token)

    @asynccontextmanager
    async def channel(self) -> AsyncIterator[grpc.aio.Channel]:
        """A channel to the orchestrators."""
        async with self._channel(self.target, ORCHESTRATOR) as channel:
            yield channel

    @asynccontextmanager
    async def plain_channel(self) -> AsyncIterator[grpc.aio.Channel]:
        """A channel to the orchestrators with the defaults of gRPC."""
        options = (("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1))
        credentials = self.credentials()
        async with (
            grpc.aio.secure_channel(self.target, credentials, options=options)
            if credentials
            else grpc.aio.insecure_channel(self.target, options=options)
        ) as channel:
            yield channel

    @asynccontextmanager
    async def evaluator_channel(self) -> AsyncIterator[grpc.aio.Channel]:
        """A channel to the evaluators."""
        async with self._channel(self.evaluator_target, EVALUATOR) as channel:
            yield channel

    @asynccontextmanager
    async def records_channel(self) -> AsyncIterator[grpc.aio.Channel]:
        """A channel to the services of records."""
        async with self._channel(self.records_target, RECORDS) as channel:
            yield channel

    def _channel(self, target: str, service: str) -> grpc.aio.Channel:
        options = channel_options(service)
        if (credentials := self.credentials()) is None:
            return grpc.aio.insecure_channel(target, options=options)
        return grpc.aio.secure_channel(target, credentials, options=options)


def channel_options(service: str) -> tuple[tuple[str, object], ...]:
    """Return the options of docs/clients.md, without retries, so that failures are visible."""
    config = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": service},
    }
    return (
        ("grpc.service_config", json.dumps(config)),
        ("grpc.enable_http_proxy", 0),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1000),
        ("grpc.dns_min_time_between_resolutions_ms", 10_000),
    )


_VARIABLES = (
    *("SCAAR_EVALUATOR_TARGET", *FILES, "SCAAR_TOKEN", "SCAAR_METRICS_URLS"),
    *("SCAAR_INDEX", "SCAAR_QUESTION", "SCAAR_GATEWAY_URL"),
    *("SCAAR_CONSOLE_URL", "SCAAR_RECORDS_TARGET"),
)


def _url(name: str, given: Mapping[str, str]) -> tuple[str, ...]:
    url = given.get(name, "")
    if url and not url.startswith(("http://", "https://")):
        raise pytest.UsageError(f"{name}: {url!r} is no http:// or https://")
    return (url.rstrip("/"),) if url else ()


def _file(name: str, value: str | None) -> Path | None:
    if value is None:
        return None
    path = Path(value)
    if not path.is_file() or not os.access(path, os.R_OK):
        raise pytest.UsageError(f"{name} is no file that can be read: {value}")
    return path
