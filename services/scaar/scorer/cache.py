"""LRU cache of contributions, which computes a sentence once for concurrent callers."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, InvalidRequest, Violation
from scaar.core.loop.budget import remaining_time_s
from scaar.core.observers import UNOBSERVED, ScorerObserver
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScorerDescription, ScoreRequest
from scaar.scorer.validation import check_requests

Contributions = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Key:
    """Cache key of a sentence: model, revision, question and words.

    The texts are stored as a digest, so that entries stay small.
    """

    model: str
    revision: str
    texts: bytes


@dataclass(slots=True)
class _Computation:
    """A sentence being scored, and the number of callers that wait for it."""

    task: asyncio.Task[Contributions]
    callers: int = 0


class _OtherDeadlineExceeded(Exception):
    """A joined computation ended at the deadline of another caller, before this caller's."""


@dataclass(frozen=True, slots=True)
class _Joined:
    """A computation that a caller has started or joined."""

    computation: _Computation
    started: bool

    def result(self, number: int) -> Contributions:
        """Return the result. Errors name the caller's sentence ``number``."""
        task = self.computation.task
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
            remaining = remaining_time_s()
            if not self.started and (remaining is None or remaining > 0):
                raise _OtherDeadlineExceeded from error
            raise


@asynccontextmanager
async def open_cached_scorer(
    scorer: ContributionScorer, *, max_entries: int, observer: ScorerObserver = UNOBSERVED
) -> AsyncIterator["CachedScorer"]:
    """Open a cache of at most ``max_entries`` sentences over the scorer, for the block."""
    cached = CachedScorer(scorer, max_entries=max_entries, observer=observer)
    try:
        yield cached
    finally:
        await cached.aclose()


class CachedScorer:
    """A :class:`~scaar.core.ports.ContributionScorer` over any other.

    Every sentence that is not cached is scored in a call of its own, which continues as long as a
    caller waits for the result. Errors are not cached. ``hits`` counts the sentences found in the
    cache, ``joined`` those already being computed, and ``misses`` those computed now.
    """

    def __init__(
        self,
        scorer: ContributionScorer,
        *,
        max_entries: int,
        observer: ScorerObserver = UNOBSERVED,
    ) -> None:
        self.hits = 0
        self.joined = 0
        self.misses = 0
        self._scorer = scorer
        self._max_entries = max_entries
        self._observer = observer
        self._cache: OrderedDict[_Key, Contributions] = OrderedDict()
        self._in_progress: dict[_Key, _Computation] = {}
        self._tasks: set[asyncio.Task[Contributions]] = set()

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[Contributions, ...]:
        """Return the contributions of every request, from the cache where possible.

        Raises:
            InvalidRequest: naming the invalid fields, before any work. Errors of the wrapped scorer
                are raised too.
        """
        check_requests(requests)
        while True:
            try:
                return await self._score(requests)
            except _OtherDeadlineExceeded:
                # The joined computation ended at its starter's deadline. Time remains here: retry.
                continue

    async def _score(self, requests: Sequence[ScoreRequest]) -> tuple[Contributions, ...]:
        model = await self._scorer.describe_model()
        keys = [_key(model, request) for request in requests]
        found = {key: self._recall(key) for key in keys}
        missing = [number for number, key in enumerate(keys) if found[key] is None]
        with self._joining([(keys[number], requests[number]) for number in missing]) as joined:
            started = sum(each.started for each in joined)
            self._observer.on_cache_lookup(
                hits=len(keys) - len(missing), joined=len(joined) - started, misses=started
            )
            if joined:
                tasks = {each.computation.task for each in joined}
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for number, each in zip(missing, joined, strict=True):
                if each.computation.task.done():
                    found[keys[number]] = each.result(number)
        return tuple(found[key] or () for key in keys)

    async def describe_model(self) -> ScorerDescription:
        return await self._scorer.describe_model()

    async def aclose(self) -> None:
        """Cancel the computations in progress."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _recall(self, key: _Key) -> Contributions | None:
        cached = self._cache.get(key)
        if cached is not None:
            self._cache.move_to_end(key)
            self.hits += 1
        return cached

    @contextmanager
    def _joining(self, requested: Sequence[tuple[_Key, ScoreRequest]]) -> Iterator[list[_Joined]]:
        """Start or join computations. After the block, those without a caller are cancelled."""
        joined = [self._join(key, request) for key, request in requested]
        try:
            yield joined
        finally:
            for (key, _), computation in zip(
                requested, (each.computation for each in joined), strict=True
            ):
                computation.callers -= 1
                if not computation.callers:
                    computation.task.cancel()
                    self._forget(key, computation)

    def _join(self, key: _Key, request: ScoreRequest) -> _Joined:
        computation = self._in_progress.get(key)
        started = computation is None or computation.task.done()
        if computation is None or started:
            self.misses += 1
            computation = _Computation(asyncio.create_task(self._compute(key, request)))
            self._in_progress[key] = computation
            self._tasks.add(computation.task)
            computation.task.add_done_callback(self._on_done)
        else:
            self.joined += 1
        computation.callers += 1
        return _Joined(computation, started)

    def _on_done(self, task: asyncio.Task[Contributions]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # A call raises only its first error. Retrieve the others, so that asyncio does not log
            # them.
            task.exception()

    def _forget(self, key: _Key, computation: _Computation) -> None:
        if self._in_progress.get(key) is computation:
            del self._in_progress[key]

    async def _compute(self, key: _Key, request: ScoreRequest) -> Contributions:
        (contributions,) = await self._scorer.score_contributions((request,))
        model = await self._scorer.describe_model()
        # A model that was changed meanwhile may have scored with either revision.
        if (model.model, model.revision) == (key.model, key.revision):
            self._cache[key] = contributions
            while len(self._cache) > self._max_entries:
                self._cache.popitem(last=False)
        return contributions


def _key(model: ScorerDescription, request: ScoreRequest) -> _Key:
    texts = repr((request.question, *request.words)).encode()
    return _Key(model.model, model.revision, hashlib.sha256(texts).digest())
