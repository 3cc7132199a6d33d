"""Waiting for the processes of ``scaar up``."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

import pytest

from scaar.cli.serve import up_readiness
from scaar.cli.serve.services import ServiceName
from scaar.cli.serve.up_readiness import until_ready
from scaar.core.errors import BackendUnavailable

pytestmark = pytest.mark.slow


async def process_of(code: str) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=PIPE)


async def test_a_service_that_takes_long_to_start_is_noted_and_awaited(
    monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setattr(up_readiness, "NOTE_AFTER_S", 0.01)
    process = await process_of("input()")
    notes: asyncio.Queue[str] = asyncio.Queue()
    address = f"127.0.0.1:{unused_tcp_port}"
    gateway = ServiceName.GATEWAY
    waiting = asyncio.create_task(
        until_ready({gateway: address}, {gateway: process}, notes.put_nowait)
    )
    assert "gateway is still starting" in await notes.get()
    assert not waiting.done()
    server = await asyncio.start_server(lambda _, writer: writer.close(), *address.split(":"))
    async with server:
        await waiting
    process.kill()
    await process.wait()


async def test_a_process_that_ends_is_an_error(unused_tcp_port: int) -> None:
    process = await process_of("")
    scorer = ServiceName.SCORER
    with pytest.raises(BackendUnavailable, match="scorer did not start on .*; its error is above"):
        await until_ready({scorer: f"127.0.0.1:{unused_tcp_port}"}, {scorer: process}, print)
