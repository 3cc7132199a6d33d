"""Supervision of llama.cpp's server: restarts with back-off, and one error while it cannot run."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from scaar.core.errors import BackendUnavailable, DataCorrupt, NotFound, ScaarError
from scaar.generator.engines.llama_cpp_server.parameters import ServerParameters
from scaar.generator.engines.llama_cpp_server.process import ServerProcess, start_server
from scaar.generator.engines.llama_cpp_server.sizes import (
    BATCH,
    MemoryNeed,
    Sizes,
    available_memory,
    memory_need,
    shown_bytes,
)
from scaar.generator.gguf.model import GgufModel

MAX_ENDS = 5
"""Number of ends in succession after which calls fail until the next attempt."""
STABLE_S = 60.0
"""Seconds that a server runs before its earlier ends are forgotten."""
FIRST_PAUSE_S = 0.2
"""Seconds before the first restart; each further one waits twice as long."""
PAUSE_AFTER_LOOP_S = 60.0
"""Seconds between attempts once the server has ended too often."""
_LOGGER = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]


class ServerSupervisor:
    """Keeps a server running. :meth:`ready` is awaited before every call."""

    def __init__(
        self, model: GgufModel, sizes: Sizes, *, connections: int, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._model = model
        self._sizes = sizes
        self._connections = connections
        self._sleep = sleep
        self._file = _identity(model.path)
        self._key = ""
        self._server: ServerProcess | None = None
        self.failure: ScaarError | None = None
        """Why the server cannot run; None while it runs or is started again."""
        self._changed = asyncio.Event()
        self.need: MemoryNeed = memory_need(model, sizes)

    @property
    def process(self) -> ServerProcess | None:
        """The process that serves now; None while there is none."""
        return self._server

    def key(self) -> SecretStr:
        """Return the API key of the server that runs now."""
        return SecretStr(self._key)

    async def ready(self) -> str:
        """Return the address of the server, after a restart if there is one.

        Raises:
            ScaarError: it ended too often, or cannot run; the error says what to do.
        """
        while self._server is None:
            if self.failure is not None:
                raise self.failure
            await self._changed.wait()
        return self._server.address

    async def start(self) -> None:
        """Start the server and wait until the model is loaded.

        Raises:
            NotFound: the model's file cannot be read any more.
            DataCorrupt: the model cannot be loaded, or its file was replaced since the first start.
            BackendUnavailable: there is not enough memory, or the server does not start.
        """
        self._check_file()
        self._check_memory()
        self._key = secrets.token_urlsafe(32)
        parameters = ServerParameters(
            path=str(self._model.path.absolute()),
            name=self._model.name,
            key=self._key,
            slots=self._sizes.server_slots,
            context=self._sizes.context,
            batch=BATCH,
            threads=self._sizes.threads,
            connections=self._connections,
        )
        server = await start_server(parameters)
        try:
            await server.loaded()
        except BaseException:
            await asyncio.shield(server.stop())
            raise
        self._now(server)

    async def supervise(self) -> None:
        """Restart the server whenever it ends, until this is cancelled."""
        ends = 0
        while (server := self._server) is not None:
            began = time.monotonic()
            how = await server.ended()
            ends = 1 if time.monotonic() - began >= STABLE_S else ends + 1
            self._now(None)
            _LOGGER.warning("llama.cpp's server %s; starting it again", how)
            ends = await self._restarted(ends, self._ended(how, ends))

    async def _restarted(self, ends: int, error: ScaarError) -> int:
        """Start the server, as often as it takes, and return the number of ends in succession."""
        while True:
            await self._pause(ends, error)
            try:
                await self.start()
            except ScaarError as failed:
                ends, error = ends + 1, failed
                _LOGGER.warning("llama.cpp's server did not start: %s", failed)
            else:
                return ends

    async def stop(self) -> None:
        """End the server."""
        if self._server is not None:
            await self._server.stop()

    async def _pause(self, ends: int, error: ScaarError) -> None:
        if ends < MAX_ENDS:
            await self._sleep(FIRST_PAUSE_S * 2 ** (ends - 1))
            return
        self._now(None, failure=error)
        await self._sleep(PAUSE_AFTER_LOOP_S)
        # Calls wait for the attempt that follows.
        self._now(None)

    def _now(self, server: ServerProcess | None, *, failure: ScaarError | None = None) -> None:
        self._server, self.failure = server, failure
        self._changed.set()
        self._changed = asyncio.Event()

    def _check_file(self) -> None:
        path = self._model.path
        try:
            found = _identity(path)
        except OSError as error:
            text = f"{path} cannot be read any more ({error.strerror}): put the same file back"
            raise NotFound(f"{text}, or restart this process with another model") from error
        if found != self._file:
            raise DataCorrupt(f"{path.name} was replaced while it was in use: restart this process")

    def _check_memory(self) -> None:
        free = available_memory()
        if free is not None and self.need.total > free:
            fewer = f" or SCAAR_GENERATOR_SLOTS below {self._sizes.slots}"
            raise BackendUnavailable(
                f"{self._model.path.name} needs {self.need}, but {shown_bytes(free)} are free: "
                "choose a smaller model, or set SCAAR_GENERATOR_MAX_TOTAL_TOKENS below "
                f"{self._sizes.context}{fewer if self._sizes.slots > 1 else ''}"
            )

    def _ended(self, how: str, ends: int) -> BackendUnavailable:
        times = "once" if ends == 1 else f"{ends} times in succession"
        return BackendUnavailable(
            f"llama.cpp's server ended {times}; the last time it {how}. SIGKILL is what the system "
            f"sends where memory runs out: the server needs {self.need}; free memory or choose a "
            "smaller model or context. For any other end, update xllamacpp",
            retry_after_s=PAUSE_AFTER_LOOP_S,
        )


@asynccontextmanager
async def running_server(
    model: GgufModel, sizes: Sizes, *, connections: int
) -> AsyncIterator[ServerSupervisor]:
    """Run a supervised server of the model for the duration of the block.

    Raises:
        DataCorrupt: llama.cpp cannot load the model.
        BackendUnavailable: there is not enough memory, or the server does not start.
    """
    supervisor = ServerSupervisor(model, sizes, connections=connections)
    _LOGGER.info("%s needs %s; %s", model.name, supervisor.need, sizes)
    await supervisor.start()
    supervision = asyncio.create_task(supervisor.supervise())
    try:
        yield supervisor
    finally:
        supervision.cancel()
        await asyncio.gather(supervision, return_exceptions=True)
        await supervisor.stop()


def _identity(path: Path) -> tuple[int, ...]:
    """Return what tells a file from the one that replaces it."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
