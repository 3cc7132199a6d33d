"""Table of injections: each injects one fault for some time and removes it again.

An injection takes the system and a random number generator that selects target and duration, and
returns what it did after the fault is removed.
"""

import asyncio
import os
import random
import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..installation.ours.installation import SERVICES
from .disturbance import DisturbedProcess
from .system import WORKER, Part, System


@dataclass(frozen=True, slots=True)
class InjectionResult:
    """Target and description of an injection."""

    target: str
    text: str


Injection = Callable[[System, random.Random], Awaitable[InjectionResult]]


async def kill(system: System, chance: random.Random) -> InjectionResult:
    """Kill a process of scaar, and start it again after a delay."""
    part, away_s = _any(system, chance, *SERVICES, WORKER), chance.uniform(0.2, 3.0)
    if part.service == "orchestrator":
        system.kills.append(time.monotonic())
    await asyncio.to_thread(part.kill)
    await asyncio.sleep(away_s)
    await system.restart(part)
    return InjectionResult(part.name, f"SIGKILL, started again after {away_s:.1f} s")


async def stop(system: System, chance: random.Random) -> InjectionResult:
    """Suspend a process of scaar: it keeps its connections and answers nothing."""
    part, seconds = _any(system, chance, *SERVICES, WORKER), chance.uniform(1.0, 7.0)
    pids = [part.process.pid, *part.process.children()]
    async with system.pausing(part.service):
        _signal(pids, signal.SIGSTOP)
        await asyncio.sleep(seconds)
        _signal(pids, signal.SIGCONT)
    return InjectionResult(part.name, f"SIGSTOP for {seconds:.1f} s")


async def delay(system: System, chance: random.Random) -> InjectionResult:
    """Slow the link between a server and its callers."""
    name, link = chance.choice(system.links())
    delay_s, seconds = chance.uniform(0.02, 0.3), chance.uniform(3.0, 6.0)
    async with system.pausing(name.rpartition("-")[0]):
        link.delay_s = delay_s
        await asyncio.sleep(seconds)
        link.delay_s = 0.0
    return InjectionResult(name, f"{1000 * delay_s:.0f} ms either way for {seconds:.1f} s")


async def partition(system: System, chance: random.Random) -> InjectionResult:
    """Block the link between a server and its callers; data sent meanwhile arrives later."""
    name, link = chance.choice(system.links())
    seconds = chance.uniform(1.0, 7.0)
    async with system.pausing(name.rpartition("-")[0]):
        link.partition()
        await asyncio.sleep(seconds)
        link.heal()
    return InjectionResult(name, f"blocked for {seconds:.1f} s")


async def cut(system: System, chance: random.Random) -> InjectionResult:
    """Reset every connection to a server."""
    name, link = chance.choice(system.links())
    return InjectionResult(name, f"{link.cut()} connections reset")


async def clock(system: System, chance: random.Random) -> InjectionResult:
    """Shift the clock of one process, and shift it back."""
    name, process = chance.choice(_processes(system))
    ahead_s, seconds = chance.choice((-1, 1)) * chance.choice((30, 3_600, 86_400)), 4.0
    process.disturb(ahead_s=ahead_s)
    await asyncio.sleep(seconds)
    process.disturb()
    return InjectionResult(name, f"clock {ahead_s:+,d} s for {seconds:.1f} s")


async def slow_disk(system: System, chance: random.Random) -> InjectionResult:
    """Delay every file operation of one process."""
    name, process = chance.choice(_with_files(system))
    delay_s, seconds = chance.uniform(0.002, 0.05), chance.uniform(3.0, 6.0)
    process.disturb(delay_s=delay_s)
    await asyncio.sleep(seconds)
    process.disturb()
    return InjectionResult(name, f"{1000 * delay_s:.0f} ms per operation for {seconds:.1f} s")


async def full_disk(system: System, chance: random.Random) -> InjectionResult:
    """Simulate a full disk for one process."""
    name, process = chance.choice(_with_files(system))
    seconds = chance.uniform(3.0, 6.0)
    process.disturb(full=True)
    await asyncio.sleep(seconds)
    process.disturb()
    return InjectionResult(name, f"disk full for {seconds:.1f} s")


async def redis(system: System, chance: random.Random) -> InjectionResult:
    """Kill Redis, and start it again with or without its data."""
    away_s, lost = chance.uniform(0.2, 3.0), chance.random() < 0.5
    server = system.redis
    await asyncio.to_thread(server.process.kill)
    await asyncio.sleep(away_s)
    if lost:
        shutil.rmtree(server.folder / "appendonlydir", ignore_errors=True)
    await asyncio.to_thread(server.start)
    return InjectionResult("redis", f"away {away_s:.1f} s, its data {'lost' if lost else 'kept'}")


async def postgresql(system: System, chance: random.Random) -> InjectionResult:
    """Restart PostgreSQL, gracefully or after killing all its processes."""
    away_s, killed = chance.uniform(0.2, 3.0), chance.random() < 0.5
    server = system.postgresql
    await asyncio.to_thread(server.kill if killed else server.stop)
    await asyncio.sleep(away_s)
    await asyncio.to_thread(server.start)
    return InjectionResult(
        "postgresql", f"{'killed' if killed else 'stopped'}, away {away_s:.1f} s"
    )


async def upgrade(system: System, chance: random.Random) -> InjectionResult:
    """Replace every process of scaar: all services concurrently, one replica at a time each."""

    async def replace_all(parts: list[Part]) -> None:
        for part in parts:
            await system.replace(part)

    services = chance.sample((*SERVICES, WORKER), k=len(SERVICES) + 1)
    async with asyncio.TaskGroup() as tasks:
        for service in services:
            tasks.create_task(replace_all(system.of(service)))
    return InjectionResult("everything", f"{len(system.parts)} processes replaced")


INJECTIONS: Mapping[str, Injection] = MappingProxyType(
    {
        "kill": kill,
        "stop": stop,
        "delay": delay,
        "partition": partition,
        "cut": cut,
        "clock": clock,
        "slow-disk": slow_disk,
        "full-disk": full_disk,
        "redis": redis,
        "postgresql": postgresql,
        "upgrade": upgrade,
    }
)
"""The table, by the names of ``--only``."""


def _any(system: System, chance: random.Random, *services: str) -> Part:
    """Return a random part of a random service; all services are equally likely."""
    return chance.choice(system.of(chance.choice(services)))


def _processes(system: System) -> list[tuple[str, DisturbedProcess]]:
    """Return every process that can be disturbed, including servers."""
    return [(part.name, part.process) for part in system.parts] + _servers(system)


def _with_files(system: System) -> list[tuple[str, DisturbedProcess]]:
    """Return the processes that write files: retrievers and servers."""
    return [(part.name, part.process) for part in system.of("retriever")] + _servers(system)


def _servers(system: System) -> list[tuple[str, DisturbedProcess]]:
    found = {"postgresql": system.postgresql.process, "redis": system.redis.process}
    return [(name, each) for name, each in found.items() if isinstance(each, DisturbedProcess)]


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)
