"""One process of llama.cpp's server, from its start until its end."""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from scaar.core.errors import BackendUnavailable, CapabilityMissing, DataCorrupt, ScaarError
from scaar.core.text.one_line import one_line
from scaar.generator.engines.llama_cpp_server.environment import environment_of
from scaar.generator.engines.llama_cpp_server.parameters import ServerParameters

_COMMAND = (sys.executable, "-P", "-m", "scaar.generator.engines.llama_cpp_server.server")
_STOP_S = 5.0
"""Seconds for the process to end before it is killed."""
_LINES, _LINE_CHARACTERS = 40, 400
"""How much of the log is kept: its end."""
_LOADING = re.compile(r"error loading model: (.+)")
_UNKNOWN = re.compile(r"unknown (?:model architecture|pre-tokenizer)[^\n]*", re.I)
_MEMORY = re.compile(r"bad_alloc|failed to allocate|out of memory|cannot allocate", re.I)
_ADVICE = (
    "free memory, choose a smaller model, or set SCAAR_GENERATOR_MAX_TOTAL_TOKENS to a shorter "
    "context"
)


class ServerProcess:
    """A running server at ``address``. Its log is kept in part, and never printed."""

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self._name = name
        self._log = deque[str](maxlen=_LINES)
        self._logging = asyncio.create_task(self._keep_log())
        self.address = ""

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def log(self) -> tuple[str, ...]:
        """The last lines that llama.cpp wrote."""
        return tuple(self._log)

    async def loaded(self) -> None:
        """Wait until the model is loaded.

        Raises:
            DataCorrupt: llama.cpp cannot load the model.
            BackendUnavailable: the process ended, for lack of memory or otherwise.
            CapabilityMissing: its library is not installed.
        """
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        try:
            self.address = str(json.loads(line)["address"])
        except (KeyError, TypeError, ValueError):
            await self.stop()
            raise self._unloaded() from None

    async def ended(self) -> str:
        """Wait until the process ends, and return how."""
        status = await self._process.wait()
        await self._logging
        return _ending(status)

    async def stop(self) -> None:
        """End the process and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        await self._logging

    async def _keep_log(self) -> None:
        assert self._process.stderr is not None
        while line := await _line(self._process.stderr):
            self._log.append(one_line(line.decode(errors="replace"), length=_LINE_CHARACTERS))

    def _unloaded(self) -> ScaarError:
        status = self._process.returncode or 0
        text = "\n".join(self._log)
        if _MEMORY.search(text) or status == -signal.SIGKILL:
            return BackendUnavailable(
                f"llama.cpp ran out of memory while it loaded {self._name}: {_ADVICE}"
            )
        if found := _UNKNOWN.search(text):
            return DataCorrupt(
                f"llama.cpp cannot run {self._name}: {found[0]}; update xllamacpp, or set "
                "SCAAR_GENERATOR_MODEL to another model"
            )
        if found := _LOADING.search(text):
            return DataCorrupt(
                f"llama.cpp cannot load {self._name}: {found[1].rstrip('.')}; download or copy it "
                "again, or set SCAAR_GENERATOR_MODEL to another model"
            )
        if "ModuleNotFoundError" in text and "xllamacpp" in text:
            return CapabilityMissing(
                "engine llama_cpp needs xllamacpp: install scaar[llama-cpp]", engine="llama_cpp"
            )
        return BackendUnavailable(
            f"llama.cpp's server did not start with {self._name}: it {_ending(status)}",
            detail=self._log[-1] if self._log else "",
        )


async def start_server(parameters: ServerParameters) -> ServerProcess:
    """Start a process. The key goes through its standard input, and nothing into its arguments.

    The process ends when this one does, since then its standard input closes.

    Raises:
        BackendUnavailable: the system starts no further process.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *_COMMAND,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment_of(os.environ),
            # Ctrl-C in a terminal must not end it before the answers that it writes.
            start_new_session=True,
        )
    except OSError as error:
        text = f"the process of llama.cpp's server cannot be started: {error.strerror}"
        raise BackendUnavailable(text) from error
    server = ServerProcess(process, Path(parameters.path).name)
    assert process.stdin is not None
    with suppress(ConnectionError):
        process.stdin.write(f"{json.dumps(asdict(parameters))}\n".encode())
        await process.stdin.drain()
    return server


async def _line(stream: asyncio.StreamReader) -> bytes:
    """Return the next line, or a part of one that is longer than the stream's limit."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await stream.read(error.consumed)


def _ending(status: int) -> str:
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
