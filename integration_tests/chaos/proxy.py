"""TCP proxy in front of one server, whose link can be slowed, blocked and reset."""

import asyncio
import socket
from contextlib import suppress

HOST = "127.0.0.1"
_CHUNK = 65_536


class Proxy:
    """Forwards connections from ``port`` to another port on loopback.

    During a partition nothing passes in either direction: new connections get no answer, and
    neither side learns that the other has closed. Data sent meanwhile arrives when the partition
    ends, as with TCP retransmission.
    """

    def __init__(self, upstream: int) -> None:
        self.upstream = upstream
        # Bound from the beginning, so that nothing else takes the port.
        self._socket = socket.create_server((HOST, 0))
        self.port: int = self._socket.getsockname()[1]
        self.delay_s = 0.0
        self._passing = asyncio.Event()
        self._passing.set()
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, sock=self._socket)

    async def stop(self) -> None:
        if self._server is None:
            self._socket.close()
            return
        self._server.close()
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def partition(self) -> None:
        self._passing.clear()

    def heal(self) -> None:
        self._passing.set()

    def cut(self) -> int:
        """Reset all connections and return their number."""
        writers = list(self._writers)
        for writer in writers:
            writer.transport.abort()
        return len(writers) // 2

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        self._writers.add(writer)
        try:
            await self._passing.wait()
            with suppress(OSError):
                await self._forward(reader, writer)
        except asyncio.CancelledError:
            pass  # the proxy stops; a cancelled task of a stream server would be logged
        finally:
            # If the server is down the connection is reset, as without a proxy.
            writer.transport.abort()
            self._writers.discard(writer)
            self._connections.discard(task)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(HOST, self.upstream)
        self._writers.add(to_writer)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, to_writer))
                both.create_task(self._pump(to_reader, writer))
        finally:
            to_writer.transport.abort()
            self._writers.discard(to_writer)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await self._passing.wait()
                writer.write(data)
                await writer.drain()
            await self._passing.wait()
            if writer.can_write_eof():
                writer.write_eof()
            return
        # If one direction fails, both are closed.
        writer.transport.abort()
