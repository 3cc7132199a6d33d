"""The HTTP server of a process."""

import asyncio
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from scaar.http_server.server import Readiness, serving_app
from scaar.runtime.settings import ProcessSettings


def greet(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@pytest.mark.slow
async def test_a_connection_idle_for_longer_than_clients_keep_theirs_is_still_open() -> None:
    settings = ProcessSettings(drain_s=0)
    async with serving_app(
        Starlette(routes=[Route("/", greet)]),
        settings,
        default_address="127.0.0.1:0",
        readiness=Readiness(),
    ) as url:
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for pause in (5.5, 0):
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(pause)
        writer.close()
        await writer.wait_closed()
