"""CPU of an orchestrator for an answer, with records and without, in turn."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack
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

    Two orchestrators with metrics over the same back ends answer the same questions in turn, so
    that a busier moment of the machine costs both. The time to write the records is counted.
    """
    with ExitStack() as stack:
        services = {name: stack.enter_context(running_service(name, home)) for name in _BACK_ENDS}
        targets = {
            f"SCAAR_ORCHESTRATOR_{name.replace('-', '_').upper()}_TARGET": service.target
            for name, service in services.items()
        }

        def orchestrator(**settings: str) -> RunningService:
            settings["SCAAR_ORCHESTRATOR_METRICS_ADDRESS"] = "127.0.0.1:0"
            found = running_service("orchestrator", home, **targets, **settings)
            return stack.enter_context(found)

        without = orchestrator()
        for content in ("none", "full"):
            database = f"sqlite:///{home / f'records-{content}.sqlite'}"
            with_records = orchestrator(
                SCAAR_ORCHESTRATOR_RECORDS_DATABASE=database,
                SCAAR_ORCHESTRATOR_RECORDS_CONTENT=content,
            )
            pairs = await _pairs((without, with_records), questions)
            cells = (
                median(plain for plain, _ in pairs),
                median(recorded for _, recorded in pairs),
                median(recorded / plain for plain, recorded in pairs),
            )
            yield (content, f"{cells[0]:.2f}", f"{cells[1]:.2f}", f"{cells[2]:.3f}")


async def _pairs(
    orchestrators: tuple[RunningService, RunningService], questions: Sequence[str]
) -> list[tuple[float, float]]:
    """Return the CPU of both orchestrators in ms for an answer, pair by pair."""
    async with AsyncExitStack() as stack:
        answerers = [
            RemoteAnswerer(await stack.enter_async_context(open_channel(each.target)), each.target)
            for each in orchestrators
        ]
        pids = [each.process.pid for each in orchestrators]
        pairs = []
        # The first pair warms both.
        for _ in range(1 + PAIRS):
            before = [_cpu_s(pid) for pid in pids]
            for number in range(ANSWERS):
                request = AnswerRequest(questions[number % len(questions)], PolicyRequest("scaar"))
                for answerer in answerers if number % 2 == 0 else reversed(answerers):
                    await answerer.answer(request)
            await asyncio.sleep(_WRITTEN_WITHIN_S)
            plain, recorded = (
                (_cpu_s(pid) - began) / ANSWERS * 1000
                for pid, began in zip(pids, before, strict=True)
            )
            pairs.append((plain, recorded))
        return pairs[1:]


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process's threads in seconds.

    Those of a scheduler are exact; the times in ``stat`` are in ticks of 10 ms, a fifth of what
    records cost in a run.
    """
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9
