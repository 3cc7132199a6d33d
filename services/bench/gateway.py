"""Overhead of the gateway: the same answers over HTTP and over gRPC, alternately."""

import asyncio
import os
import re
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import httpx2

from scaar.compose import open_answerer
from scaar.core.types import AnswerEvent, AnswerRequest, PolicyRequest
from scaar.runtime.channels import open_channel
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import ScriptedAnswerer
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer
from scaar.wire.status import status_of

COLUMNS = (
    "answers",
    "gRPC, median ms",
    "HTTP, median ms",
    "difference, median ms",
    "CPU of the gateway, ms an answer",
)
AIM_MS, AIM_CPU_MS = 3.0, 6.0
ANSWERS = 300
_SERVING = re.compile(r"serving on (\S+)")


async def rows(question: str) -> AsyncIterator[tuple[str, ...]]:
    """Yield a row for whole answers, and one for streams of them.

    The orchestrator replays the events of an answer of the lab, so that the differences are those
    of the ways to it.
    """
    async with open_answerer() as answerer:
        request = AnswerRequest(question, PolicyRequest("scaar"))
        async with aclosing(answerer.stream_answer(request)) as events:
            recorded: list[AnswerEvent] = [event async for event in events]
    servicer = OrchestratorServicer(ScriptedAnswerer(lambda _: recorded))
    settings = ServiceSettings(stop_grace_s=0.0)
    async with (
        open_server([servicer], "127.0.0.1:0", settings, status_of=status_of) as server,
        open_channel(server.target) as channel,
        _gateway(server.target) as (url, process),
        httpx2.AsyncClient(base_url=url, timeout=30) as http,
    ):
        remote = RemoteAnswerer(channel, server.target)
        body = {"model": "scaar", "messages": [{"role": "user", "content": question}]}

        async def streamed_by_grpc() -> None:
            # The chunks of HTTP have no drafted tokens either.
            decisions = replace(request, omit_drafted_tokens=True)
            async with aclosing(remote.stream_answer(decisions)) as stream:
                async for _ in stream:
                    pass

        async def by_http(stream: bool) -> None:
            response = await http.post("/v1/chat/completions", json={**body, "stream": stream})
            assert response.status_code == 200, response.text

        yield await _row("whole", lambda: remote.answer(request), partial(by_http, False), process)
        yield await _row("streamed", streamed_by_grpc, partial(by_http, True), process)


async def _row(
    name: str,
    by_grpc: Callable[[], Awaitable[object]],
    by_http: Callable[[], Awaitable[object]],
    process: Process,
) -> tuple[str, ...]:
    for _ in range(20):
        await by_grpc()
        await by_http()
    times: tuple[list[float], list[float]] = ([], [])
    before = _cpu_s(process)
    for _ in range(ANSWERS):
        for way, work in enumerate((by_grpc, by_http)):
            began = time.perf_counter()
            await work()
            times[way].append((time.perf_counter() - began) * 1000)
    cpu_ms = (_cpu_s(process) - before) / ANSWERS * 1000
    difference = median(http - grpc for grpc, http in zip(*times, strict=True))
    cells = (median(times[0]), median(times[1]), difference, cpu_ms)
    return (name, *(f"{each:.2f}" for each in cells))


@asynccontextmanager
async def _gateway(target: str) -> AsyncIterator[tuple[str, Process]]:
    """Run a gateway in front of an orchestrator; yield its URL and its process."""
    command = (sys.executable, "-m", "scaar.cli", "serve", "gateway", "--address", "127.0.0.1:0")
    process = await asyncio.create_subprocess_exec(
        *command, "--orchestrator", f"dns:///{target}", stderr=PIPE
    )
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        found = _SERVING.search(line)
        if found is None:
            raise RuntimeError(f"the gateway did not start: {line}")
        yield found[1], process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


def _cpu_s(process: Process) -> float:
    """Return the CPU time of a process in seconds."""
    # Fields 14 and 15, user and system time, after the name in parentheses.
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
