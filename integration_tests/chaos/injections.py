"""The table of injections: each disturbs one thing for a while, and takes the disturbance away.

An injection takes the system and a source of randomness, which decides on target and duration. It
returns what it did once nothing is disturbed any more.
"""

import asyncio
import os
import random
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..installation.ours.installation import SERVICES
from .disturbance import DisturbedProcess
from .system import WORKER, Part, System


@dataclass(frozen=True, slots=True)
class Injected:
    """What was done to whom."""

    target: str
    text: str


Injection = Callable[[System, random.Random], Awaitable[Injected]]


async def kill(system: System, chance: random.Random) -> Injected:
    """End a process of scaar's as a loss of power would; start it again a moment later."""
    part, away_s = _any(system, chance, *SERVICES, WORKER), chance.uniform(0.2, 3.0)
    await asyncio.to_thread(part.kill)
    await asyncio.sleep(away_s)
    await system.restart(part)
    return Injected(part.name, f"SIGKILL, started again after {away_s:.1f} s")


async def stop(system: System, chance: random.Random) -> Injected:
    """Have a process of scaar's hang: it keeps its connections and answers nothing."""
    part, seconds = _any(system, chance, *SERVICES, WORKER), chance.uniform(1.0, 7.0)
    pids = [part.process.pid, *part.process.children()]
    async with system.holding(part.service):
        _signal(pids, signal.SIGSTOP)
        await asyncio.sleep(seconds)
        _signal(pids, signal.SIGCONT)
    return Injected(part.name, f"SIGSTOP for {seconds:.1f} s")


async def delay(system: System, chance: random.Random) -> Injected:
    """Slow the link between a server and its callers."""
    name, link = chance.choice(system.links())
    delay_s, seconds = chance.uniform(0.02, 0.3), chance.uniform(3.0, 6.0)
    async with system.holding(name.rpartition("-")[0]):
        link.delay_s = delay_s
        await asyncio.sleep(seconds)
        link.delay_s = 0.0
    return Injected(name, f"{1000 * delay_s:.0f} ms either way for {seconds:.1f} s")


async def partition(system: System, chance: random.Random) -> Injected:
    """Have nothing pass between a server and its callers; what was sent arrives later."""
    name, link = chance.choice(system.links())
    seconds = chance.uniform(1.0, 7.0)
    async with system.holding(name.rpartition("-")[0]):
        link.partition()
        await asyncio.sleep(seconds)
        link.heal()
    return Injected(name, f"nothing passed for {seconds:.1f} s")


async def cut(system: System, chance: random.Random) -> Injected:
    """Reset every connection to a server."""
    name, link = chance.choice(system.links())
    return Injected(name, f"{link.cut()} connections reset")


async def clock(system: System, chance: random.Random) -> Injected:
    """Have the clock of one process jump, and jump back."""
    name, process = chance.choice(_processes(system))
    ahead_s, seconds = chance.choice((-1, 1)) * chance.choice((30, 3_600, 86_400)), 4.0
    process.disturb(ahead_s=ahead_s)
    await asyncio.sleep(seconds)
    process.disturb()
    return Injected(name, f"clock {ahead_s:+,d} s for {seconds:.1f} s")


async def slow_disk(system: System, chance: random.Random) -> Injected:
    """Have every operation on files take longer, for one process."""
    name, process = chance.choice(_with_files(system))
    delay_s, seconds = chance.uniform(0.002, 0.05), chance.uniform(3.0, 6.0)
    process.disturb(delay_s=delay_s)
    await asyncio.sleep(seconds)
    process.disturb()
    return Injected(name, f"{1000 * delay_s:.0f} ms an operation for {seconds:.1f} s")


async def full_disk(system: System, chance: random.Random) -> Injected:
    """Leave no room for a file to grow, for one process."""
    name, process = chance.choice(_with_files(system))
    seconds = chance.uniform(3.0, 6.0)
    process.disturb(full=True)
    await asyncio.sleep(seconds)
    process.disturb()
    return Injected(name, f"no room for {seconds:.1f} s")


async def redis(system: System, chance: random.Random) -> Injected:
    """Kill Redis; it comes back with its data or without."""
    away_s, lost = chance.uniform(0.2, 3.0), chance.random() < 0.5
    server = system.redis
    await asyncio.to_thread(server.process.kill)
    await asyncio.sleep(away_s)
    if lost:
        shutil.rmtree(server.folder / "appendonlydir", ignore_errors=True)
    await asyncio.to_thread(server.start)
    return Injected("redis", f"away {away_s:.1f} s, its data {'lost' if lost else 'kept'}")


async def postgresql(system: System, chance: random.Random) -> Injected:
    """Restart PostgreSQL, in order or by a kill of all its processes."""
    away_s, killed = chance.uniform(0.2, 3.0), chance.random() < 0.5
    server = system.postgresql
    await asyncio.to_thread(server.kill if killed else server.stop)
    await asyncio.sleep(away_s)
    await asyncio.to_thread(server.start)
    return Injected("postgresql", f"{'killed' if killed else 'stopped'}, away {away_s:.1f} s")


async def upgrade(system: System, chance: random.Random) -> Injected:
    """Replace every process of scaar's: all services at once, each one replica at a time."""

    async def replace_all(parts: list[Part]) -> None:
        for part in parts:
            await system.replace(part)

    services = chance.sample((*SERVICES, WORKER), k=len(SERVICES) + 1)
    async with asyncio.TaskGroup() as tasks:
        for service in services:
            tasks.create_task(replace_all(system.of(service)))
    return Injected("everything", f"{len(system.parts)} processes replaced")


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
"""The table; ``--only`` takes its names."""


def _any(system: System, chance: random.Random, *services: str) -> Part:
    """A part of a service; each service is as likely as another, however many parts it has."""
    return chance.choice(system.of(chance.choice(services)))


def _processes(system: System) -> list[tuple[str, DisturbedProcess]]:
    """Every process that can be disturbed from within, the servers' too."""
    return [(part.name, part.process) for part in system.parts] + _servers(system)


def _with_files(system: System) -> list[tuple[str, DisturbedProcess]]:
    """The processes that work on files: retrievers, which build indexes too, and the servers."""
    return [(part.name, part.process) for part in system.of("retriever")] + _servers(system)


def _servers(system: System) -> list[tuple[str, DisturbedProcess]]:
    found = {"postgresql": system.postgresql.process, "redis": system.redis.process}
    return [(name, each) for name, each in found.items() if isinstance(each, DisturbedProcess)]


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)
