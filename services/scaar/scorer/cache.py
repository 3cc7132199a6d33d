"""Contributions remembered, and computed once where several callers ask at the same time."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from scaar.core.budget import time_left
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, InvalidRequest, Violation
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.validation import check_requests

Contributions = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Key:
    """What decides the contributions: the model, its revision, the question and the words.

    Of the texts only a digest is held: entries stay small, however long the question.
    """

    model: str
    revision: str
    texts: bytes


@dataclass(slots=True)
class _Computing:
    """A sentence being scored, and how many callers wait for it."""

    task: asyncio.Task[Contributions]
    callers: int = 0


class _AnothersTime(Exception):
    """The time of another caller was used up, and this one's is not."""


@dataclass(frozen=True, slots=True)
class _Joined:
    """A caller's part in a computation, which it began or found under way."""

    computing: _Computing
    began: bool

    def result(self, number: int) -> Contributions:
        """What was computed, its error told as that of the caller's sentence ``number``."""
        task = self.computing.task
        if task.cancelled():
            raise BackendUnavailable("the scorer is closing")
        try:
            return task.result()
        except InvalidRequest as error:
            moved = [
                Violation(
                    each.field.replace("sentences[0]", f"sentences[{number}]", 1), each.description
                )
                for each in error.violations
            ]
            raise InvalidRequest(moved) from error
        except DeadlineExceeded as error:
            left = time_left()
            if not self.began and (left is None or left > 0):
                raise _AnothersTime from error
            raise


@asynccontextmanager
async def open_cached_scorer(
    scorer: ContributionScorer, *, entries: int, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator["CachedScorer"]:
    """The scorer with a memory of ``entries`` sentences, from 1, until the block ends."""
    cached = CachedScorer(scorer, entries=entries, observer=observer)
    try:
        yield cached
    finally:
        await cached.aclose()


class CachedScorer:
    """A :class:`~scaar.core.ports.ContributionScorer` over any other.

    Every sentence that is not remembered is asked of the other scorer in a call of its own, which
    goes on as long as somebody waits for it. Errors are not remembered. Of the sentences asked
    for, ``hits`` counts those remembered, ``joined`` those already being computed, ``misses``
    those computed anew.
    """

    def __init__(
        self,
        scorer: ContributionScorer,
        *,
        entries: int,
        observer: ScorerObserver = UNOBSERVED,
    ) -> None:
        self.hits = 0
        self.joined = 0
        self.misses = 0
        self._scorer = scorer
        self._entries = entries
        self._observer = observer
        self._remembered: OrderedDict[_Key, Contributions] = OrderedDict()
        self._under_way: dict[_Key, _Computing] = {}
        self._tasks: set[asyncio.Task[Contributions]] = set()

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[Contributions, ...]:
        """The contributions of every request, from memory where they are there.

        Raises:
            InvalidRequest: naming the wrong fields, before any work; and what the other raises.
        """
        check_requests(requests)
        while True:
            try:
                return await self._score(requests)
            except _AnothersTime:
                # What was joined ended with the time of whoever began it; there is time left here.
                continue

    async def _score(self, requests: Sequence[ScoreRequest]) -> tuple[Contributions, ...]:
        model = await self._scorer.describe_model()
        keys = [_key(model, request) for request in requests]
        found = {key: self._recall(key) for key in keys}
        missing = [number for number, key in enumerate(keys) if found[key] is None]
        with self._joining([(keys[number], requests[number]) for number in missing]) as joined:
            began = sum(each.began for each in joined)
            self._observer.sentences_looked_up(
                hits=len(keys) - len(missing), joined=len(joined) - began, misses=began
            )
            if joined:
                tasks = {each.computing.task for each in joined}
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for number, each in zip(missing, joined, strict=True):
                if each.computing.task.done():
                    found[keys[number]] = each.result(number)
        return tuple(found[key] or () for key in keys)

    async def describe_model(self) -> ScorerDescription:
        return await self._scorer.describe_model()

    async def aclose(self) -> None:
        """Ends what is being computed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _recall(self, key: _Key) -> Contributions | None:
        remembered = self._remembered.get(key)
        if remembered is not None:
            self._remembered.move_to_end(key)
            self.hits += 1
        return remembered

    @contextmanager
    def _joining(self, asked: Sequence[tuple[_Key, ScoreRequest]]) -> Iterator[list[_Joined]]:
        """The computations asked for; those that nobody waits for after the block are ended."""
        joined = [self._join(key, request) for key, request in asked]
        try:
            yield joined
        finally:
            for (key, _), computing in zip(asked, (each.computing for each in joined), strict=True):
                computing.callers -= 1
                if not computing.callers:
                    computing.task.cancel()
                    self._forget(key, computing)

    def _join(self, key: _Key, request: ScoreRequest) -> _Joined:
        computing = self._under_way.get(key)
        began = computing is None or computing.task.done()
        if computing is None or began:
            self.misses += 1
            computing = _Computing(asyncio.create_task(self._compute(key, request)))
            self._under_way[key] = computing
            self._tasks.add(computing.task)
            computing.task.add_done_callback(self._ended)
        else:
            self.joined += 1
        computing.callers += 1
        return _Joined(computing, began)

    def _ended(self, task: asyncio.Task[Contributions]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Of several errors in one call a caller is told the first; the rest are seen here.
            task.exception()

    def _forget(self, key: _Key, computing: _Computing) -> None:
        if self._under_way.get(key) is computing:
            del self._under_way[key]

    async def _compute(self, key: _Key, request: ScoreRequest) -> Contributions:
        (contributions,) = await self._scorer.score_contributions((request,))
        model = await self._scorer.describe_model()
        # A model that was changed meanwhile may have scored with either revision.
        if (model.model, model.revision) == (key.model, key.revision):
            self._remembered[key] = contributions
            while len(self._remembered) > self._entries:
                self._remembered.popitem(last=False)
        return contributions


def _key(model: ScorerDescription, request: ScoreRequest) -> _Key:
    texts = repr((request.question, *request.words)).encode()
    return _Key(model.model, model.revision, hashlib.sha256(texts).digest())
