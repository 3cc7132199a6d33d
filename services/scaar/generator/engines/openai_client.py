"""The client of an OpenAI-compatible server: one a generator, with the settings' key and times."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from openai import AsyncOpenAI, Omit, Timeout
from pydantic import SecretStr

from scaar.generator.settings import GeneratorSettings


@asynccontextmanager
async def open_client(
    settings: GeneratorSettings, api_key: SecretStr | None
) -> AsyncIterator[AsyncOpenAI]:
    """The client, which tries nothing again by itself; its connections close with the block.

    Without a key none is sent, whatever the environment holds for OpenAI's own service.
    """
    client = AsyncOpenAI(
        base_url=base_url(settings),
        api_key=api_key.get_secret_value() if api_key else "none",
        default_headers=None if api_key else {"Authorization": Omit()},  # type: ignore[dict-item]
        max_retries=0,
        timeout=Timeout(settings.read_timeout_s, connect=settings.connect_timeout_s),
    )
    async with client:
        yield client


def base_url(settings: GeneratorSettings) -> str:
    """The settings' url, with the interface's usual path where it has none."""
    url = (settings.url or "").rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"
