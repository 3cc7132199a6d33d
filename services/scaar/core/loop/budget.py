"""The limits of an answer, and its usage so far."""

import asyncio
import enum
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from scaar.core.errors import DeadlineExceeded
from scaar.core.types import BudgetLimits, Usage

CALL_MARGIN_S = 0.05
"""Safety margin, in seconds, subtracted from the remaining deadline of downstream calls, so that
their result, or the stage at which time ran out, still reaches the caller."""


class Part(enum.StrEnum):
    """Part that an answer waits for."""

    GENERATION = "generation"
    SCORING = "scoring"
    RETRIEVAL = "retrieval"


_DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline_in(seconds: float) -> Iterator[None]:
    """Set the deadline of the block; it never extends the current one. Infinity sets none.

    The deadline stops nothing by itself: :func:`remaining_time_s` returns the time until it. The
    block must not yield.
    """
    given, before = time.monotonic() + seconds, _DEADLINE.get()
    nearest = given if before is None else min(given, before)
    token = _DEADLINE.set(None if nearest == math.inf else nearest)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def remaining_time_s() -> float | None:
    """Return the seconds until the current deadline; None without a deadline."""
    deadline = _DEADLINE.get()
    return None if deadline is None else deadline - time.monotonic()


class Budget:
    """Counts retrievals, model calls, tokens and time of one answer against its limits."""

    def __init__(self, limits: BudgetLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._began = clock()
        self._retrievals = 0
        self._searches = 0
        self._llm_calls = 0
        self._prompt_tokens = 0
        self._evaluated_prompt_tokens = 0
        self._generated_tokens = 0
        self._thinking_tokens = 0
        self._uncounted_calls = 0
        self._unscored_sentences = 0
        self._tokens_read = 0
        self._waited = dict.fromkeys(Part, 0.0)

    @property
    def remaining_tokens(self) -> int:
        """Tokens within the limit, of which only read tokens are subtracted."""
        return self._limits.max_tokens - self._tokens_read

    @property
    def remaining_retrievals(self) -> int:
        return self._limits.max_retrievals - self._retrievals

    @property
    def remaining_s(self) -> float:
        """Seconds until the time limit; infinity without a limit."""
        if self._limits.timeout_s is None:
            return math.inf
        return self._began + self._limits.timeout_s - self._clock()

    def count_retrieval(self, *, searches: int = 1) -> None:
        self._retrievals += 1
        self._searches += searches

    def count_search(self) -> None:
        """Count a further search of the last retrieval."""
        self._searches += 1

    def count_unscored(self) -> None:
        """Count a draft that was judged without contributions."""
        self._unscored_sentences += 1

    def count_token(self) -> None:
        """Count a generated token that was read."""
        self._tokens_read += 1

    def count_call(
        self,
        *,
        prompt_tokens: int | None,
        generated_tokens: int,
        thinking_tokens: int = 0,
        evaluated_tokens: int | None = None,
    ) -> None:
        """Count a model call.

        ``prompt_tokens`` is None if they are unknown. ``evaluated_tokens`` is how many of them the
        model read; None, if that is unknown, counts them all, and so does a larger number.
        """
        sent = prompt_tokens or 0
        self._llm_calls += 1
        self._prompt_tokens += sent
        self._evaluated_prompt_tokens += (
            sent if evaluated_tokens is None else min(evaluated_tokens, sent)
        )
        self._uncounted_calls += prompt_tokens is None
        self._generated_tokens += generated_tokens
        self._thinking_tokens += thinking_tokens

    def usage(self) -> Usage:
        """Return the usage so far."""
        return Usage(
            retrievals=self._retrievals,
            llm_calls=self._llm_calls,
            generated_tokens=self._generated_tokens,
            prompt_tokens=self._prompt_tokens,
            latency_ms=(self._clock() - self._began) * 1000,
            generation_ms=self._waited[Part.GENERATION] * 1000,
            scoring_ms=self._waited[Part.SCORING] * 1000,
            retrieval_ms=self._waited[Part.RETRIEVAL] * 1000,
            searches=self._searches,
            thinking_tokens=self._thinking_tokens,
            uncounted_calls=self._uncounted_calls,
            unscored_sentences=self._unscored_sentences,
            evaluated_prompt_tokens=self._evaluated_prompt_tokens,
        )

    @asynccontextmanager
    async def within(self, stage: str, part: Part | None = None) -> AsyncIterator[None]:
        """Limit the awaits and calls of the block to the remaining time.

        What the block takes is put down to the part. Nothing may be yielded in it.

        Raises:
            DeadlineExceeded: no time remains; the message names the stage.
        """
        began, seconds = self._clock(), max(0.0, self.remaining_s)
        limit = asyncio.timeout(None if seconds == math.inf else seconds)
        try:
            with deadline_in(seconds):
                async with limit:
                    yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise self._used_up(stage) from error
        except DeadlineExceeded as error:
            # A call with the whole remaining time ends by a margin before that time.
            if self.remaining_s > 2 * CALL_MARGIN_S:
                raise
            raise self._used_up(stage) from error
        finally:
            if part is not None:
                self._waited[part] += self._clock() - began

    def _used_up(self, stage: str) -> DeadlineExceeded:
        given = self._limits.timeout_s
        text = (
            f"the answer's time of {given:g} s was used up while {stage}; "
            "budget.timeout_s (--timeout) is the limit"
        )
        return DeadlineExceeded(text, stage=stage)
