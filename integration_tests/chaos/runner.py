"""One run: the system is disturbed under load by a seeded schedule, and checked."""

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from .injections import INJECTIONS
from .invariants import Violation, check_logs, check_still
from .report import Window, line, print_violations, table
from .system import System, running_system
from .traffic import Seen, Traffic

_RECOVERY_S = 60.0
"""Within this, everything has to serve again and answers have to succeed."""
_AFTER = 6
"""Answers in a row that have to succeed before something else is disturbed."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is asked for."""

    seconds: float
    seed: int
    only: Sequence[str]
    folder: Path


def schedule(seed: int, names: Sequence[str]) -> Iterator[tuple[str, random.Random]]:
    """The injections in their order, each with a source of chance of its own.

    Every name comes once before one comes again, so that a short run has as many as it can.
    """
    chance = random.Random(seed)
    while True:
        for name in chance.sample(names, k=len(names)):
            yield name, random.Random(chance.getrandbits(64))


def run(options: Options) -> bool:
    """Run it, print what happened, and return whether every invariant held."""

    async def until_told() -> bool:
        # Told to end it still ends what it started.
        task = asyncio.current_task()
        assert task
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await _run(options)

    return asyncio.run(until_told())


async def _run(options: Options) -> bool:
    # A thread waits for each process that starts or stops, and all may at once.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    print(f"seed {options.seed}, {options.seconds:g} s, injections: {', '.join(options.only)}")
    began = time.monotonic()
    async with running_system(options.folder) as system:
        traffic = Traffic(system)
        print(f"{len(system.parts)} processes serve after {time.monotonic() - began:.0f} s")
        await traffic.rehearse()
        print(f"undisturbed: {len(traffic.expected)} answers, {len(traffic.expected_rows)} rows\n")
        at = time.monotonic()
        windows: list[Window] = []
        async with traffic.flowing() as seen:
            await _recovered(system, seen)
            for name, chance in schedule(options.seed, options.only):
                if time.monotonic() - at >= options.seconds:
                    break
                windows.append(await _injected(system, seen, name, chance))
                print(line(windows[-1], at), flush=True)
                print_violations(windows[-1].violations, at)
        late = seen.violations[sum(len(window.violations) for window in windows) :]
        late += await _at_rest(system)
        print(f"\n{table(windows)}\n")
        print(seen.summary(), f"in {time.monotonic() - at:.0f} s")
    late += check_logs(system.logs(), time.monotonic())
    print_violations(late, at)
    return _verdict(options, len(late) + sum(len(window.violations) for window in windows))


async def _injected(system: System, seen: Seen, name: str, chance: random.Random) -> Window:
    """Injects, and returns once everything has recovered, or has had the time for it."""
    began, before = time.monotonic(), len(seen.violations)
    injected = await INJECTIONS[name](system, chance)
    disturbed_s = time.monotonic() - began
    if wrong := await _recovered(system, seen):
        text = f"{wrong} {_RECOVERY_S:g} s after {name} of {injected.target}"
        seen.violations.append(Violation("recovery", time.monotonic(), text))
    ended = time.monotonic()
    return Window(
        name,
        injected.target,
        injected.text,
        began,
        disturbed_s,
        ended,
        seen.answers(began, ended),
        tuple(seen.violations[before:]),
    )


async def _recovered(system: System, seen: Seen) -> str:
    """Empty once everything serves and answers succeed; else, in the end, what does not."""
    since = time.monotonic()
    wrong = "nothing"
    while time.monotonic() - since < _RECOVERY_S:
        await asyncio.sleep(0.25)
        last = [call for call in seen.answers(since) if call.began >= since][-_AFTER:]
        if len(last) < _AFTER or not all(call.succeeded for call in last):
            failing = Counter(call.code for call in last if not call.succeeded)
            wrong = f"answers fail ({dict(failing)})" if failing else "too few answers come"
        elif unready := await system.unready():
            wrong = f"{', '.join(unready)} do not serve"
        else:
            return ""
    return wrong


async def _at_rest(system: System) -> list[Violation]:
    """What is still going on, or does not serve, when nobody calls any more."""
    until = time.monotonic() + _RECOVERY_S
    while True:
        under_way = await asyncio.to_thread(_under_way, system)
        unready = await system.unready()
        found = check_still(under_way, unready, time.monotonic())
        if not found or time.monotonic() > until:
            return found
        await asyncio.sleep(0.5)


def _under_way(system: System) -> dict[str, float]:
    """How many calls each part says that it works on; health is watched for as long as it lives."""
    found: dict[str, float] = {}
    for part in system.parts:
        if part.seat:
            url = f"http://127.0.0.1:{part.seat.metrics_port}/metrics"
            with urlopen(url, timeout=5) as response:
                lines = response.read().decode().splitlines()
            counts = [each for each in lines if each.startswith("scaar_rpc_under_way{")]
            found[part.name] = sum(float(each.rpartition(" ")[2]) for each in counts)
    return found


def _verdict(options: Options, violations: int) -> bool:
    if not violations:
        print("every invariant held")
        return True
    only = f" ONLY={','.join(options.only)}" if len(options.only) < len(INJECTIONS) else ""
    again = f"make chaos SECONDS={options.seconds:g} SEED={options.seed}{only}"
    print(f"{violations} violations; again by: {again}; logs in {options.folder}")
    return False
