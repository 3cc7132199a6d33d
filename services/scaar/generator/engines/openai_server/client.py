"""HTTP client of an OpenAI-compatible server."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from openai import AsyncOpenAI, Omit, Timeout

from scaar.generator.engines.served.api_key import ApiKey
from scaar.generator.settings import GeneratorSettings
from scaar.http_client.httpx_client import ResendingClient

_NO_KEY = "none"


@asynccontextmanager
async def open_client(
    settings: GeneratorSettings, tls: ssl.SSLContext | None
) -> AsyncIterator[AsyncOpenAI]:
    """Open a client that retries no error of the server; its connections close with the block.

    ``tls`` is the context for an ``https`` server; None trusts the system's authorities. The client
    has no key, and does not read OPENAI_API_KEY, which may be meant for another service; see
    :func:`headers_of`.
    """
    http_client = ResendingClient(tls=tls, follow_redirects=True)
    async with _client(settings, base_url(settings), http_client) as client:
        yield client


@asynccontextmanager
async def open_child_client(settings: GeneratorSettings, url: str) -> AsyncIterator[AsyncOpenAI]:
    """Open a client of a server that is a child process. It uses no proxy and no redirect."""
    http_client = ResendingClient(trust_env=False, follow_redirects=False)
    async with _client(settings, f"{url}/v1", http_client) as client:
        yield client


def _client(settings: GeneratorSettings, url: str, http_client: ResendingClient) -> AsyncOpenAI:
    return AsyncOpenAI(
        base_url=url,
        api_key=_NO_KEY,
        max_retries=0,
        # Streams limit the silence of the server themselves.
        timeout=Timeout(None, connect=settings.connect_timeout_s),
        http_client=http_client,
    )


def base_url(settings: GeneratorSettings) -> str:
    """Return the configured URL, with ``/v1`` if it has no path."""
    url = (settings.url or "").rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"


def headers_of(key: ApiKey) -> Mapping[str, str | Omit]:
    """Return the headers that add the current key to a request, if there is one."""
    now = key()
    return {"Authorization": f"Bearer {now.get_secret_value()}" if now else Omit()}
