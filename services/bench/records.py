"""CPU of an orchestrator for an answer, with records and without, alternately."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.runtime.channels import open_channel
from scaar.testing.processes import RunningService, running_service
from scaar.wire.orchestrator import RemoteAnswerer

COLUMNS = ("records", "CPU without, median ms", "CPU with, median ms", "ratio, median of pairs")
AIM = 1.03
PAIRS, ANSWERS = 10, 40
_BACK_ENDS = ("generator", "scorer", "query-builder", "retriever")
_WRITTEN_WITHIN_S = 3.0


async def rows(home: Path, questions: Sequence[str]) -> AsyncIterator[tuple[str, ...]]:
    """Yield a row for records without texts, and one for whole records.

    A pair answers the same questions on two orchestrators over the same back ends. The time to
    write the records is counted.
    """
    with ExitStack() as stack:
        services = {name: stack.enter_context(running_service(name, home)) for name in _BACK_ENDS}
        targets = {
            f"SCAAR_ORCHESTRATOR_{name.replace('-', '_').upper()}_TARGET": service.target
            for name, service in services.items()
        }

        def orchestrator(**settings: str) -> RunningService:
            found = running_service("orchestrator", home, **targets, **settings)
            return stack.enter_context(found)

        without = orchestrator()
        for content in ("none", "full"):
            database = f"sqlite:///{home / f'records-{content}.sqlite'}"
            with_records = orchestrator(
                SCAAR_ORCHESTRATOR_RECORDS_DATABASE=database,
                SCAAR_ORCHESTRATOR_RECORDS_CONTENT=content,
            )
            pairs = await _pairs(without, with_records, questions)
            cells = (
                median(plain for plain, _ in pairs),
                median(recorded for _, recorded in pairs),
                median(recorded / plain for plain, recorded in pairs),
            )
            yield (content, f"{cells[0]:.2f}", f"{cells[1]:.2f}", f"{cells[2]:.3f}")


async def _pairs(
    without: RunningService, with_records: RunningService, questions: Sequence[str]
) -> list[tuple[float, float]]:
    """Return the CPU of both orchestrators in ms for an answer, pair by pair."""
    async with open_channel(without.target) as plain, open_channel(with_records.target) as other:
        answerers = (
            (RemoteAnswerer(plain, without.target), without.process.pid),
            (RemoteAnswerer(other, with_records.target), with_records.process.pid),
        )
        for answerer, pid in answerers:
            await _cpu_ms(answerer, pid, questions)
        pairs = []
        for number in range(PAIRS):
            # The order alternates, so that neither always has the warmer caches.
            order = (0, 1) if number % 2 == 0 else (1, 0)
            found = [0.0, 0.0]
            for at in order:
                found[at] = await _cpu_ms(*answerers[at], questions)
            pairs.append((found[0], found[1]))
        return pairs


async def _cpu_ms(answerer: RemoteAnswerer, pid: int, questions: Sequence[str]) -> float:
    before = _cpu_s(pid)
    for number in range(ANSWERS):
        question = questions[number % len(questions)]
        await answerer.answer(AnswerRequest(question, PolicyRequest("scaar")))
    await asyncio.sleep(_WRITTEN_WITHIN_S)
    return (_cpu_s(pid) - before) / ANSWERS * 1000


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process's threads in seconds.

    Those of a scheduler are exact; the times in ``stat`` are in ticks of 10 ms, a fifth of what
    records cost in a run.
    """
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9
