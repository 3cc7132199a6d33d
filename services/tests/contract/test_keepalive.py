"""A peer that goes without a word is missed: the work for it ends, and so does the wait for it."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.types import GenerateRequest
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import ScriptedGenerator
from scaar.wire.generator import GeneratorServicer, RemoteGenerator
from scaar.wire.status import status_of

LOOPBACK = "127.0.0.1:0"
LONG = 60.0
REQUEST = GenerateRequest("a", max_tokens=100_000)


class Cable:
    """What a client and a server are joined by; pulled, it carries nothing and tells nobody."""

    def __init__(self, address: str) -> None:
        self._host, _, self._port = address.rpartition(":")
        self._tasks: list[asyncio.Task[None]] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._pulled = False
        self._server: asyncio.Server | None = None

    def pull(self) -> None:
        self._pulled = True
        if self._server:
            self._server.close()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """Where the client's end is."""
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        try:
            yield f"{host}:{port}"
        finally:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for writer in self._writers:
                writer.transport.abort()
            await asyncio.gather(
                *(writer.wait_closed() for writer in self._writers), return_exceptions=True
            )

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(self._host, int(self._port))
        self._writers += (writer, far_writer)
        for pair in ((reader, far_writer), (far_reader, writer)):
            self._tasks.append(asyncio.create_task(self._carry(*pair)))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            if not self._pulled:
                writer.write(data)
        if not self._pulled:
            writer.close()


async def generate(target: str, settings: ChannelSettings, started: asyncio.Event) -> None:
    async with open_channel(target, settings=settings) as channel:
        generator = RemoteGenerator(channel, target, timeout_s=LONG)
        async with aclosing(generator.generate(REQUEST)) as events:
            async for _ in events:
                started.set()


@pytest.mark.parametrize("asks", ["server", "client"])
async def test_the_connection_to_a_silent_peer_is_closed(asks: str) -> None:
    """Within the time of the one that asks; the other's is that of a call, and longer."""
    seconds = {side: 0.2 if side == asks else LONG for side in ("server", "client")}
    served = ServiceSettings(
        keepalive_s=seconds["server"],
        keepalive_timeout_s=seconds["server"],
        min_ping_interval_s=0.1,
        stop_grace_s=0,
    )
    called = ChannelSettings(
        attempts=1, keepalive_s=seconds["client"], keepalive_timeout_s=seconds["client"]
    )
    engine = ScriptedGenerator(lambda request: itertools.repeat((" x", -0.1)), delay_s=0.05)
    started = asyncio.Event()
    async with open_server(
        [GeneratorServicer(engine)], LOOPBACK, served, status_of=status_of
    ) as server:
        cable = Cable(server.address)
        async with cable.open() as target, asyncio.timeout(LONG / 2):
            calling = asyncio.create_task(generate(target, called, started))
            await started.wait()
            cable.pull()
            if asks == "client":
                with pytest.raises(BackendUnavailable):
                    await calling
                assert engine.closed == 0
                return
            while not engine.closed:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert not calling.done()
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
