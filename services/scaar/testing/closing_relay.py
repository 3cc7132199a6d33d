"""A relay to a server that closes kept connections at the worst moment, or after a short time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class ClosingRelay:
    """The relay at ``url``, with the number of connections and of dropped requests so far."""

    host: str
    port: int
    drops: bool
    idle_s: float
    url: str = ""
    connections: int = 0
    dropped: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay a connection of a client until one side closes it."""
        self.connections += 1
        answers, requests = await asyncio.open_connection(self.host, self.port)
        answered = asyncio.Event()
        returning = asyncio.create_task(self._return(answers, writer, answered))
        try:
            while data := await reader.read(1 << 16):
                if answered.is_set() and self.drops:
                    self.dropped += 1
                    break
                answered.clear()
                requests.write(data)
                await requests.drain()
        except ConnectionError:
            pass
        finally:
            returning.cancel()
            writer.close()
            requests.close()
            await asyncio.wait([returning])

    async def _return(
        self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter, answered: asyncio.Event
    ) -> None:
        """Return the server's bytes, and close the connection once it is idle."""
        loop, idle = asyncio.get_running_loop(), None

        def close() -> None:
            if answered.is_set():  # no request has arrived meanwhile
                writer.close()

        with suppress(ConnectionError):
            while data := await answers.read(1 << 16):
                writer.write(data)
                await writer.drain()
                answered.set()
                if idle is not None:
                    idle.cancel()
                idle = loop.call_later(self.idle_s, close)
        writer.close()


@asynccontextmanager
async def closing_relay(
    url: str, *, drops: bool = False, idle_s: float = 3600.0
) -> AsyncIterator[ClosingRelay]:
    """Relay connections to a server of this machine until the block ends.

    With ``drops`` a kept connection is closed when the next request arrives on it, without a byte
    of a response, as if the server had closed it at that moment. A connection that returned nothing
    for ``idle_s`` after its last byte is closed.
    """
    target = urlsplit(url)
    relay = ClosingRelay(str(target.hostname), target.port or 80, drops, idle_s)
    serving = set[asyncio.Task[None]]()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(relay.serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    relay.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{target.path}"
    try:
        async with server:
            yield relay
    finally:
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await asyncio.sleep(0)  # transports close in the next round of the loop
