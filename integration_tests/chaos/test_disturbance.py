"""A process is disturbed as it was asked for, while it runs, and no longer than that."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from .disturbance import DisturbedProcess, Library
from .proxy import HOST, Proxy

# Prints the results of one round of work for each file that requests one.
_PROGRAM = """
import os, sys, time
folder, at = sys.argv[1], 0
kept = os.open(f"{folder}/kept", os.O_RDWR | os.O_CREAT)
os.pwrite(kept, b"12345678", 0)
def tried(work):
    began = time.monotonic()
    try:
        work()
        said = "done"
    except OSError as error:
        said = error.strerror
    return f"{said} {time.monotonic() - began:.3f}"
while True:
    while not os.path.exists(f"{folder}/ask-{at}"):
        time.sleep(0.01)
    within = tried(lambda: os.pwrite(kept, b"87654321", 0))
    longer = tried(lambda: os.pwrite(kept, b"87654321", 8))
    os.ftruncate(kept, 8)
    print(f"{at}|{within}|{longer}|{time.time():.3f}", flush=True)
    at += 1
"""


class Worker:
    """A disturbed process that works a round at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._rounds = folder, 0
        self.process = DisturbedProcess(folder / "worker.log", Library(folder))
        self.process.start([sys.executable, "-c", _PROGRAM, str(folder)], answers=lambda: True)

    def round(self) -> tuple[list[str], list[str], float]:
        """What a write within a file came to, one that makes it longer, and the time of day."""
        (self._folder / f"ask-{self._rounds}").touch()
        start = f"{self._rounds}|"
        self._rounds += 1
        while True:
            for line in self.process.log.read_text().splitlines():
                if line.startswith(start) and line.count("|") == 3:
                    _, within, longer, now = line.split("|")
                    return within.rsplit(" ", 1), longer.rsplit(" ", 1), float(now)
            time.sleep(0.01)


def test_a_disk_becomes_full_and_slow_and_a_clock_jumps_until_the_fault_is_removed(
    tmp_path: Path,
) -> None:
    worker = Worker(tmp_path)
    try:
        assert [each[0] for each in worker.round()[:2]] == ["done", "done"]
        worker.process.disturb(full=True)
        within, longer, _ = worker.round()
        assert (within[0], longer[0]) == ("done", "No space left on device")
        worker.process.disturb(delay_s=0.2)
        assert float(worker.round()[0][1]) >= 0.2
        worker.process.disturb(ahead_s=86_400)
        assert worker.round()[2] - time.time() > 86_000
        worker.process.disturb()
        within, longer, now = worker.round()
        assert (within[0], longer[0]) == ("done", "done")
        assert abs(now - time.time()) < 3_600
    finally:
        worker.process.kill()


async def test_a_proxy_forwards_blocks_and_resets() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, HOST, 0)
    proxy = Proxy(server.sockets[0].getsockname()[1])
    await proxy.start()
    try:
        reader, writer = await asyncio.open_connection(HOST, proxy.port)
        writer.write(b"one")
        assert await reader.readexactly(3) == b"one"
        proxy.partition()
        writer.write(b"two")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(3), 0.3)
        proxy.heal()
        assert await reader.readexactly(3) == b"two"
        assert proxy.cut() == 1
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()
    finally:
        await proxy.stop()
        server.close()
