"""The client of an OpenAI-compatible server: one a generator, with the settings' key and times."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Omit, Timeout

from scaar.generator.engines.served.api_key import ApiKey
from scaar.generator.settings import GeneratorSettings

_NO_KEY = "none"


@asynccontextmanager
async def open_client(
    settings: GeneratorSettings, tls: ssl.SSLContext | None
) -> AsyncIterator[AsyncOpenAI]:
    """The client, which tries nothing again by itself; its connections close with the block.

    ``tls`` is what connects to a server at ``https``; None trusts whom the system trusts. It has no
    key, nor takes one from the environment, where there may be one for OpenAI's own service: see
    :func:`headers_of`.
    """
    client = AsyncOpenAI(
        base_url=base_url(settings),
        api_key=_NO_KEY,
        max_retries=0,
        timeout=Timeout(settings.read_timeout_s, connect=settings.connect_timeout_s),
        http_client=DefaultAsyncHttpxClient(verify=tls) if tls is not None else None,
    )
    async with client:
        yield client


def base_url(settings: GeneratorSettings) -> str:
    """The settings' url, with the interface's usual path where it has none."""
    url = (settings.url or "").rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"


def headers_of(key: ApiKey) -> Mapping[str, str | Omit]:
    """The headers of a request made now beside the client's own: without a key none is sent."""
    now = key()
    return {"Authorization": f"Bearer {now.get_secret_value()}" if now else Omit()}
