"""A service that is stopped lets its open streams end first: real processes."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import grpc

from scaar.core.errors import BackendUnavailable
from scaar.core.types import GenerateRequest, GenerationEnd, GenerationEvent, Token
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.wire.generator import RemoteGenerator

STREAMS = 4
# Some seconds of tokens at the pace below.
REQUEST = GenerateRequest("Question: Who directed the film?\nAnswer:", max_tokens=40)
PACE_MS = 200


@asynccontextmanager
async def serving(**settings: object) -> AsyncIterator[tuple[Process, str]]:
    """``scaar serve generator`` and where it listens."""
    variables = {f"SCAAR_GENERATOR_{name.upper()}": str(each) for name, each in settings.items()}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scaar.cli", "serve", "generator", "--address", "127.0.0.1:0"),
        stderr=PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
    )
    try:
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        reported = re.fullmatch(r"generator serving on (\S+)\n", line)
        assert reported, line
        yield process, reported[1]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ended(process: Process) -> str:
    """What it still says until it has ended well."""
    assert process.stderr is not None
    async with asyncio.timeout(30):
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 0
    return said


@asynccontextmanager
async def streams(target: str) -> AsyncIterator[list["asyncio.Task[list[GenerationEvent]]"]]:
    """Streams, each of which has had a token."""
    first = [asyncio.Event() for _ in range(STREAMS)]

    async def stream(started: asyncio.Event) -> list[GenerationEvent]:
        events = []
        async with aclosing(generator.generate(REQUEST)) as generated:
            async for event in generated:
                events.append(event)
                if isinstance(event, Token):
                    started.set()
        return events

    async with open_channel(target, settings=ChannelSettings(attempts=1)) as channel:
        generator = RemoteGenerator(channel, target)
        tasks = [asyncio.create_task(stream(started)) for started in first]
        async with asyncio.timeout(30):
            await asyncio.gather(*(started.wait() for started in first))
        yield tasks


def written(events: list[GenerationEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Token))


async def until_refused(target: str) -> None:
    """Returns when a call is refused as unavailable."""
    async with asyncio.timeout(30), open_channel(target) as channel:
        while True:
            try:
                await RemoteGenerator(channel, target).describe_model()
            except BackendUnavailable:
                return


async def test_streams_end_whole_within_the_grace_while_new_calls_are_refused() -> None:
    async with (
        serving(pace_ms=PACE_MS, stop_grace_s=60) as (process, target),
        streams(target) as tasks,
    ):
        process.send_signal(signal.SIGTERM)
        await until_refused(target)
        assert not any(task.done() for task in tasks)
        whole, *others = await asyncio.gather(*tasks)
        assert isinstance(whole[-1], GenerationEnd)
        assert [written(events) for events in others] == [written(whole)] * (STREAMS - 1)
        assert "Traceback" not in await ended(process)


async def test_without_grace_streams_end_as_unavailable_and_the_process_ends() -> None:
    async with (
        serving(pace_ms=5000, stop_grace_s=0) as (process, target),
        streams(target) as tasks,
    ):
        process.send_signal(signal.SIGTERM)
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(error, BackendUnavailable)
            assert isinstance(error.__cause__, grpc.aio.AioRpcError)
            assert error.__cause__.code() is grpc.StatusCode.UNAVAILABLE
        assert "Traceback" not in await ended(process)


async def test_streams_that_outlive_the_grace_are_ended_as_unavailable() -> None:
    async with (
        serving(pace_ms=5000, stop_grace_s=0.3) as (process, target),
        streams(target) as tasks,
    ):
        process.send_signal(signal.SIGTERM)
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(error, BackendUnavailable)
            assert isinstance(error.__cause__, grpc.aio.AioRpcError)
            assert error.__cause__.code() is grpc.StatusCode.UNAVAILABLE
        assert "Traceback" not in await ended(process)


async def test_an_idle_service_ends_immediately() -> None:
    async with serving(stop_grace_s=60) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert await ended(process) == ""
