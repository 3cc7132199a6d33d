"""Requests over connections that servers close, by both clients."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import httpx2
import pytest
from aiohttp import web

from scaar.http_client.aiohttp_requests import open_requests
from scaar.http_client.httpx_client import ResendingClient
from scaar.lab_servers.address import listening
from scaar.testing.closing_relay import closing_relay

Post = Callable[[str, bytes], Awaitable[bytes]]
"""Posts a body to a URL and returns the body of the response."""
FAILURES = (aiohttp.ClientError, OSError, httpx2.TransportError)


@asynccontextmanager
async def posting(library: str) -> AsyncIterator[Post]:
    """A client of the library."""
    if library == "aiohttp":
        async with open_requests() as requests:

            async def post(url: str, body: bytes) -> bytes:
                async with requests.response("POST", url, data=body) as response:
                    return await response.read()

            yield post
    else:
        async with ResendingClient() as client:

            async def post(url: str, body: bytes) -> bytes:
                response = await client.post(url, content=body)
                return response.content

            yield post


@pytest.fixture(params=["aiohttp", "httpx"])
async def post(request: pytest.FixtureRequest) -> AsyncIterator[Post]:
    async with posting(request.param) as post:
        yield post


@asynccontextmanager
async def echoing() -> AsyncIterator[str]:
    """The URL of a server that returns bodies."""

    async def echo(request: web.Request) -> web.Response:
        return web.Response(body=await request.read())

    app = web.Application()
    app.router.add_post("/", echo)
    async with listening(app, "127.0.0.1", 0) as url:
        yield url


@asynccontextmanager
async def breaking(*replies: bytes, once: bool = False) -> AsyncIterator[tuple[str, list[int]]]:
    """The URL of a server, and the number of requests on each connection.

    It writes a reply for each request and closes the connection after the last one. With ``once``
    it replies on the first connection only.
    """
    counts = list[int]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = len(counts)
        counts.append(0)
        for reply in (b"",) if once and place else replies:
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(len(b"body"))
            counts[place] += 1
            writer.write(reply)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", counts


WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_request_on_a_connection_closed_before_a_byte_is_sent_once_more(post: Post) -> None:
    async with echoing() as server, closing_relay(server, drops=True) as relay:
        for at in range(6):
            body = b"x" * at * 100_000
            assert await post(f"{relay.url}/", body) == body
        assert relay.dropped > 0


async def test_connections_are_kept(post: Post) -> None:
    async with echoing() as server, closing_relay(server) as relay:
        for _ in range(6):
            await post(f"{relay.url}/", b"body")
        assert relay.connections == 1


async def test_a_request_on_its_own_connection_is_not_sent_again(post: Post) -> None:
    async with breaking(b"") as (url, counts):
        with pytest.raises(FAILURES):
            await post(url, b"body")
        assert counts == [1]


@pytest.mark.parametrize("received", [b"", WHOLE[:24]])
async def test_a_request_is_sent_at_most_twice(post: Post, received: bytes) -> None:
    async with breaking(WHOLE, received, once=True) as (url, counts):
        await post(url, b"body")
        with pytest.raises(FAILURES):
            await post(url, b"body")
        assert counts == [2, 1]


async def test_a_response_that_has_begun_is_not_requested_again(post: Post) -> None:
    async with breaking(WHOLE, WHOLE[:-1]) as (url, counts):
        await post(url, b"body")
        with pytest.raises(FAILURES):
            await post(url, b"body")
        assert counts == [2]


@pytest.mark.slow
async def test_no_request_fails_where_pauses_are_as_long_as_the_server_keeps_connections(
    post: Post,
) -> None:
    async with echoing() as server, closing_relay(server, idle_s=0.2) as relay:

        async def ask(client: int) -> None:
            for at in range(20):
                assert await post(f"{relay.url}/", b"body") == b"body"
                await asyncio.sleep(0.19 + 0.02 * ((client * 20 + at) * 0.618 % 1))

        await asyncio.gather(*map(ask, range(50)))
        assert relay.connections > 50
