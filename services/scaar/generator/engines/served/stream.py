"""A server's stream, begun again where it fails before it begins, and never waited for too long."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from scaar.core.budget import time_left
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, Overloaded

ATTEMPTS = 3
"""How often a stream is begun at most."""
FIRST_PAUSE_S = 0.1
"""What lies between the first attempt and the second; it doubles from each to the next."""

_Event = TypeVar("_Event")


async def served_stream(
    begin: Callable[[], AsyncGenerator[_Event, None]],
    *,
    server: str,
    silence_s: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[_Event, None]:
    """The events of the stream that ``begin`` opens, each within ``silence_s`` and the call's time.

    A stream that fails before its first event, for want of the server or of room there, is begun
    again while there is time. Closing closes the stream that is open.

    Raises:
        DeadlineExceeded: the server was silent for too long, or the call's time is used up.
    """
    for attempt in range(1, ATTEMPTS + 1):
        begun = False
        async with aclosing(begin()) as events:
            try:
                while True:
                    event = await _next(events, server, silence_s)
                    begun = True
                    yield event
            except StopAsyncIteration:
                return
            except (BackendUnavailable, Overloaded) as error:
                pause = FIRST_PAUSE_S * 2 ** (attempt - 1)
                if isinstance(error, Overloaded):
                    pause = max(pause, error.retry_after_s)
                if begun or attempt == ATTEMPTS or not _fits(pause):
                    raise
        await sleep(pause)


async def served_answer(
    ask: Callable[[], Awaitable[_Event]],
    *,
    server: str,
    silence_s: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> _Event:
    """What a call answers, asked again and waited for as a stream of one event is."""

    async def begin() -> AsyncGenerator[_Event, None]:
        yield await ask()

    stream = served_stream(begin, server=server, silence_s=silence_s, sleep=sleep)
    async with aclosing(stream) as answers:
        return await anext(answers)


async def _next(events: AsyncGenerator[_Event, None], server: str, silence_s: float) -> _Event:
    left = time_left()
    limit = asyncio.timeout(silence_s if left is None else min(silence_s, left))
    try:
        async with limit:
            return await anext(events)
    except TimeoutError as error:
        if not limit.expired():
            raise
        told = (
            f"{server} wrote nothing for {silence_s:g} s"
            if left is None or silence_s < left
            else f"the call's time was used up while {server} wrote"
        )
        raise DeadlineExceeded(told, server=server) from error


def _fits(pause: float) -> bool:
    left = time_left()
    return left is None or pause < left
