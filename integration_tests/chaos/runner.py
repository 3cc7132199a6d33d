"""One run: inject faults under load by a seeded schedule, and check the invariants."""

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
from .invariants import Violation, check_idle, check_logs
from .report import Window, line, print_violations, table
from .system import System, running_system
from .traffic import Traffic, TrafficRecord

_RECOVERY_S = 60.0
"""Maximum time until every part is serving and answers succeed again, in seconds."""
_AFTER = 6
"""Number of consecutive successful answers required before the next injection."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a run."""

    seconds: float
    seed: int
    only: Sequence[str]
    folder: Path


def schedule(seed: int, names: Sequence[str]) -> Iterator[tuple[str, random.Random]]:
    """Yield the injections in order, each with its own random number generator.

    Every injection occurs once before any occurs again, so that a short run has many kinds.
    """
    chance = random.Random(seed)
    while True:
        for name in chance.sample(names, k=len(names)):
            yield name, random.Random(chance.getrandbits(64))


def run(options: Options) -> bool:
    """Run and print the results; return whether there was no violation."""

    async def until_signalled() -> bool:
        # A signal still ends the processes that were started.
        task = asyncio.current_task()
        assert task
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await _run(options)

    return asyncio.run(until_signalled())


async def _run(options: Options) -> bool:
    # A thread waits for each process that starts or stops, possibly for all concurrently.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    print(f"seed {options.seed}, {options.seconds:g} s, injections: {', '.join(options.only)}")
    began = time.monotonic()
    async with running_system(options.folder) as system:
        traffic = Traffic(system)
        print(f"{len(system.parts)} processes serving after {time.monotonic() - began:.0f} s")
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
        late += await traffic.check_records(_RECOVERY_S)
        late += await _check_idle(system)
        print(f"\n{table(windows)}\n")
        print(seen.summary(), f"in {time.monotonic() - at:.0f} s")
    late += check_logs(system.logs(), time.monotonic())
    print_violations(late, at)
    return _verdict(options, len(late) + sum(len(window.violations) for window in windows))


async def _injected(
    system: System, seen: TrafficRecord, name: str, chance: random.Random
) -> Window:
    """Inject a fault, and wait until the system has recovered or the time is up."""
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


async def _recovered(system: System, seen: TrafficRecord) -> str:
    """Wait for recovery; return the empty string, or after a timeout what has not recovered."""
    since = time.monotonic()
    wrong = "nothing"
    while time.monotonic() - since < _RECOVERY_S:
        await asyncio.sleep(0.25)
        last = [call for call in seen.answers(since) if call.began >= since][-_AFTER:]
        if len(last) < _AFTER or not all(call.succeeded for call in last):
            failing = Counter(call.code for call in last if not call.succeeded)
            wrong = f"answers fail ({dict(failing)})" if failing else "too few answers"
        elif unready := await system.unready():
            wrong = f"{', '.join(unready)} not serving"
        else:
            return ""
    return wrong


async def _check_idle(system: System) -> list[Violation]:
    """Return the violations that remain after the last call, or after a timeout."""
    until = time.monotonic() + _RECOVERY_S
    while True:
        running = await asyncio.to_thread(_calls_in_progress, system)
        unready = await system.unready()
        found = check_idle(running, unready, time.monotonic())
        if not found or time.monotonic() > until:
            return found
        await asyncio.sleep(0.5)


def _calls_in_progress(system: System) -> dict[str, float]:
    """Return the number of calls in progress of each part, from its metrics."""
    found: dict[str, float] = {}
    for part in system.parts:
        if part.seat:
            url = f"http://127.0.0.1:{part.seat.metrics_port}/metrics"
            with urlopen(url, timeout=5) as response:
                lines = response.read().decode().splitlines()
            counts = [each for each in lines if each.startswith("scaar_rpc_in_progress{")]
            found[part.name] = sum(float(each.rpartition(" ")[2]) for each in counts)
    return found


def _verdict(options: Options, violations: int) -> bool:
    if not violations:
        print("no violations")
        return True
    only = f" ONLY={','.join(options.only)}" if len(options.only) < len(INJECTIONS) else ""
    again = f"make chaos SECONDS={options.seconds:g} SEED={options.seed}{only}"
    print(f"{violations} violations; repeat with: {again}; logs in {options.folder}")
    return False
