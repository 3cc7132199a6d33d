"""The connection to an orchestrator that the retriever and the tool share."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from scaar.client import Client, ConnectionOptions, SyncClient, open_client, open_sync_client


class ScaarConnection(BaseModel):
    """Where the orchestrator is, and how to reach it.

    Every call opens a connection, unless an open client is given: ``client`` for calls without an
    event loop, ``async_client`` for those of the loop that opened it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    target: str = "dns:///127.0.0.1:50051"
    """Target of the orchestrator: ``dns:///HOST:PORT``."""
    token: SecretStr | None = None
    """Bearer token that is sent with every call. Requires TLS."""
    ca_file: str | None = None
    """PEM file of the certificate authority of the orchestrator. Enables TLS."""
    cert_file: str | None = None
    """PEM file of the client's certificate, for mutual TLS."""
    key_file: str | None = None
    """PEM file of the key of the client's certificate."""
    headers: Mapping[str, str] = Field(default_factory=dict)
    """Metadata that is sent with every call, such as ``{"x-scaar-tenant": "acme"}``."""
    timeout_s: float = 120.0
    """Maximum duration of a call, in seconds."""
    client: SyncClient | None = Field(default=None, exclude=True)
    """Open client of ``scaar.client.open_sync_client``, which then serves all calls."""
    async_client: Client | None = Field(default=None, exclude=True)
    """Open client of ``scaar.client.open_client``, which then serves all asynchronous calls."""

    @contextmanager
    def _opened(self) -> Iterator[SyncClient]:
        if self.client is not None:
            yield self.client
            return
        with open_sync_client(self.target, **self._options()) as client:
            yield client

    @asynccontextmanager
    async def _aopened(self) -> AsyncIterator[Client]:
        if self.async_client is not None:
            yield self.async_client
            return
        async with open_client(self.target, **self._options()) as client:
            yield client

    def _options(self) -> ConnectionOptions:
        return {
            "metadata": self.headers,
            "timeout_s": self.timeout_s,
            "ca_file": self.ca_file,
            "cert_file": self.cert_file,
            "key_file": self.key_file,
            "token": self.token.get_secret_value() if self.token else None,
        }
