"""Streams of a server with retries before the first event and a limit on silence."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, Overloaded
from scaar.core.loop.budget import remaining_time_s
from scaar.generator.engines.served.silence import Silence

ATTEMPTS = 3
"""Maximum number of attempts to start a stream."""
FIRST_PAUSE_S = 0.1
"""Delay between the first and the second attempt, in seconds; it doubles with each attempt."""

_Event = TypeVar("_Event")


async def served_stream(
    begin: Callable[[], AsyncGenerator[_Event, None]],
    *,
    server: str,
    silence: Silence,
    reads: Callable[[_Event], bool] = lambda _: False,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[_Event, None]:
    """Yield the events of a stream, each within the limit of silence and the call's deadline.

    ``begin`` starts the stream. A stream that fails before its first event, because the server is
    unavailable or overloaded, is restarted while the deadline permits; an event that ``reads``
    reports that the server reads the prompt, and does not count. Closing this closes the stream.

    Raises:
        DeadlineExceeded: the server was silent for too long, or the deadline passed.
    """
    for attempt in range(1, ATTEMPTS + 1):
        started = False
        limit_s: float | None = silence.first_s
        async with aclosing(begin()) as events:
            try:
                while True:
                    event = await _next(events, server, limit_s)
                    reading = not started and reads(event)
                    started = not reading
                    limit_s = silence.reading_s if reading else silence.between_s
                    yield event
            except StopAsyncIteration:
                return
            except (BackendUnavailable, Overloaded) as error:
                pause = FIRST_PAUSE_S * 2 ** (attempt - 1)
                if isinstance(error, Overloaded):
                    pause = max(pause, error.retry_after_s)
                if started or attempt == ATTEMPTS or not _fits(pause):
                    raise
        await sleep(pause)


async def served_answer(
    ask: Callable[[], Awaitable[_Event]],
    *,
    server: str,
    silence: Silence,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> _Event:
    """Return the response of a call, with the retries and limits of :func:`served_stream`."""

    async def begin() -> AsyncGenerator[_Event, None]:
        yield await ask()

    stream = served_stream(begin, server=server, silence=silence, sleep=sleep)
    async with aclosing(stream) as answers:
        return await anext(answers)


async def _next(
    events: AsyncGenerator[_Event, None], server: str, silence_s: float | None
) -> _Event:
    left = remaining_time_s()
    limit = asyncio.timeout(min((s for s in (silence_s, left) if s is not None), default=None))
    try:
        async with limit:
            return await anext(events)
    except TimeoutError as error:
        if not limit.expired():
            raise
        description = (
            f"{server} sent nothing for {silence_s:.3g} s, the limit of "
            "SCAAR_GENERATOR_READ_TIMEOUT_S"
            if silence_s is not None and (left is None or silence_s < left)
            else f"the deadline passed while {server} was generating"
        )
        raise DeadlineExceeded(description, server=server) from error


def _fits(pause: float) -> bool:
    left = remaining_time_s()
    return left is None or pause < left
