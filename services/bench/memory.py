"""Memory use of every service over many answers."""

import asyncio
from collections.abc import Sequence

from bench.answers import answered
from bench.servers import Servers
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest

CONCURRENCY = 8
COLUMNS = ("service", "warm", "half way", "at the end", "growth")


async def growth(
    servers: Servers, answerer: Answerer, questions: Sequence[str], *, answers: int, warm_up: int
) -> list[tuple[str, ...]]:
    """A row a service: megabytes after the warm-up, half way, and at the end."""
    readings = []
    done = 0
    for until in (warm_up, (warm_up + answers) // 2, answers):
        await _ask(answerer, questions, done, until)
        done = until
        readings.append({name: servers.resident_mb(name) for name in servers.processes})
    rows = []
    for name in servers.processes:
        first, middle, last = (reading[name] for reading in readings)
        sizes = (f"{each:.0f}" for each in (first, middle, last))
        rows.append((name, *sizes, f"{last / first:.3f}x"))
    return rows


async def _ask(answerer: Answerer, questions: Sequence[str], first: int, last: int) -> None:
    numbers = iter(range(first, last))

    async def work() -> None:
        for number in numbers:
            await answered(answerer, AnswerRequest(questions[number % len(questions)]))

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
