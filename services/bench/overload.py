"""Goodput of an orchestrator under overload, against the best that well-behaved clients get."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from statistics import median

from scaar.core.errors import Overloaded, ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerFinished, AnswerRequest, TokenDrafted

CLIENTS = (4, 8, 16, 32)
"""Numbers of concurrent clients to search for the best goodput."""
ROUNDS = 3
"""Rounds of the best load and the overload, alternately, so that lasting noise affects both."""
OVERLOAD = 10
"""Offered load under overload, as a multiple of the best goodput."""
AIM = 0.9
COLUMNS = (
    "load",
    "answers a second",
    "asked",
    "answered",
    "refused at admission",
    "refused after a model call",
    "other errors",
    "median ms of an answer",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question ended: ``reason`` is empty for an answer, else that of the error."""

    reason: str
    model_called: bool
    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class Goodput:
    """The results of a load in one or more windows of time."""

    load: str
    window_s: float
    outcomes: Sequence[Outcome]

    def __add__(self, other: "Goodput") -> "Goodput":
        outcomes = (*self.outcomes, *other.outcomes)
        return Goodput(self.load, self.window_s + other.window_s, outcomes)

    @property
    def per_s(self) -> float:
        """Answers finished per second."""
        return self._count("", model_called=True) / self.window_s

    @property
    def refused_late(self) -> int:
        """Answers refused after their first model call."""
        return self._count(Overloaded.reason, model_called=True)

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table."""
        reasons = Counter(each.reason for each in self.outcomes)
        others = sum(reasons.values()) - reasons[""] - reasons[Overloaded.reason]
        took = [each.ended_s - each.began_s for each in self.outcomes if not each.reason]
        return (
            self.load,
            f"{self.per_s:.2f}",
            f"{len(self.outcomes)}",
            f"{reasons['']}",
            f"{self._count(Overloaded.reason, model_called=False)}",
            f"{self.refused_late}",
            f"{others}",
            f"{median(took) * 1000:.0f}" if took else "-",
        )

    def _count(self, reason: str, *, model_called: bool) -> int:
        return sum(
            each.reason == reason and each.model_called is model_called for each in self.outcomes
        )


@dataclass(frozen=True, slots=True)
class Compared:
    """Goodput of a search among numbers of clients, then of its best and of overload in rounds."""

    search: Sequence[Goodput]
    best: Sequence[Goodput]
    overload: Sequence[Goodput]

    @property
    def ratio(self) -> float:
        """The median over the rounds of goodput under overload over the best."""
        rounds = zip(self.overload, self.best, strict=True)
        return median(overload.per_s / max(best.per_s, 1e-9) for overload, best in rounds)

    @property
    def refused_late(self) -> int:
        """Answers refused after their first model call, at any load."""
        return sum(each.refused_late for each in (*self.search, *self.best, *self.overload))

    def rows(self) -> list[tuple[str, ...]]:
        """The rows of the table."""
        found = [each.cells() for each in self.search]
        for rounds in (self.best, self.overload):
            first, *others = rounds
            found.append(sum(others, start=first).cells())
        return found


async def compare(answerer: Answerer, questions: Sequence[str], *, window_s: float) -> Compared:
    """Goodput of well-behaved clients and under overload, each window of ``window_s`` seconds."""
    asker = _Asker(answerer, questions)
    # Fills the caches, so that no load is measured on cold ones.
    await _under_clients(asker, CLIENTS[0], window_s)
    search = [await _under_clients(asker, clients, window_s) for clients in CLIENTS]
    found = max(search, key=lambda each: each.per_s)
    clients, best, overload = CLIENTS[search.index(found)], [], []
    for _ in range(ROUNDS):
        best.append(await _under_clients(asker, clients, window_s))
        overload.append(await _under_arrivals(asker, max(1.0, OVERLOAD * found.per_s), window_s))
    return Compared(search, best, overload)


class _Asker:
    """Sends questions and records how each ended."""

    def __init__(self, answerer: Answerer, questions: Sequence[str]) -> None:
        self._answerer = answerer
        self._questions = questions
        self._numbers = count()
        self.outcomes: list[Outcome] = []

    async def ask(self) -> float:
        """Send the next question; return the seconds to wait before the next attempt."""
        question = self._questions[next(self._numbers) % len(self._questions)]
        reason, retry_after_s, model_called = "cut off", 0.0, False
        began = time.monotonic()
        try:
            async with aclosing(self._answerer.stream_answer(AnswerRequest(question))) as events:
                async for event in events:
                    model_called = model_called or isinstance(event, TokenDrafted)
                    if isinstance(event, AnswerFinished):
                        reason = ""
        except Overloaded as error:
            reason, retry_after_s = error.reason, error.retry_after_s
        except ScaarError as error:
            reason = error.reason
        self.outcomes.append(Outcome(reason, model_called, began, time.monotonic()))
        return retry_after_s


async def _under_clients(asker: _Asker, clients: int, window_s: float) -> Goodput:
    """Clients that send one question at a time and wait for the returned delay after a refusal."""

    async def client() -> None:
        while True:
            retry_after_s = await asker.ask()
            await asyncio.sleep(retry_after_s)

    async with _window(asker, f"{clients} clients", window_s) as goodput:
        tasks = [asyncio.create_task(client()) for _ in range(clients)]
        await asyncio.sleep(1.5 * window_s)
        await _end(tasks)
    return goodput[0]


async def _under_arrivals(asker: _Asker, per_s: float, window_s: float) -> Goodput:
    """Questions that arrive at an even rate, independent of earlier answers."""
    load = f"{OVERLOAD} times the best ({per_s:.0f} a second)"
    async with _window(asker, load, window_s) as goodput:
        tasks, began = set[asyncio.Task[float]](), time.monotonic()
        for number in count():
            due = began + number / per_s
            if due - began > 1.5 * window_s:
                break
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            task = asyncio.create_task(asker.ask())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await _end(list(tasks))
    return goodput[0]


@asynccontextmanager
async def _window(asker: _Asker, load: str, window_s: float) -> AsyncIterator[list[Goodput]]:
    """Gives the goodput of a block that lasts 1.5 windows; the first half window is left out."""
    asker.outcomes = []
    began, found = time.monotonic() + window_s / 2, list[Goodput]()
    yield found
    ended = began + window_s
    kept = [each for each in asker.outcomes if began <= each.ended_s < ended]
    found.append(Goodput(load, window_s, kept))


async def _end(tasks: Sequence[asyncio.Task[float]] | Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
