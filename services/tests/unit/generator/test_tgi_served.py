"""What every engine over a server goes by: its stream, its text, its slots."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, Overloaded, ScaarError
from scaar.core.loop.budget import deadline_in
from scaar.generator.call_slots import CallSlots
from scaar.generator.engines.served.silence import Silence
from scaar.generator.engines.served.stream import ATTEMPTS, served_answer, served_stream
from scaar.generator.engines.served.text import ServedText, ServedToken


class Server:
    """Streams scripted events, a list for each attempt: numbers, or a failure."""

    def __init__(self, *attempts: list[int | ScaarError]) -> None:
        self._attempts = list(attempts)
        self.started = 0
        self.closed = 0
        self.pauses: list[float] = []

    async def begin(self) -> AsyncGenerator[int, None]:
        self.started += 1
        try:
            for each in self._attempts.pop(0):
                if isinstance(each, ScaarError):
                    raise each
                yield each
        finally:
            self.closed += 1

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def stream(self) -> AsyncGenerator[int, None]:
        return served_stream(self.begin, server="it", silence=PATIENT, sleep=self.pause)


AWAY = BackendUnavailable("away")
PATIENT = Silence(5, 5, 5)


async def test_a_stream_is_retried_until_it_starts() -> None:
    server = Server([AWAY], [Overloaded("full", retry_after_s=0.7)], [1, 2])
    assert [each async for each in server.stream()] == [1, 2]
    assert server.pauses == [0.1, 0.7]
    assert server.closed == server.started == 3


async def test_a_started_stream_is_not_retried() -> None:
    server = Server([1, AWAY], [1, 2])
    stream = server.stream()
    assert await anext(stream) == 1
    with pytest.raises(BackendUnavailable):
        await anext(stream)
    assert server.started == 1


async def test_the_number_of_attempts_is_limited() -> None:
    server = Server([AWAY], [AWAY], [AWAY], [1])
    with pytest.raises(BackendUnavailable):
        await anext(server.stream())
    assert server.started == server.closed == ATTEMPTS


async def test_it_is_not_retried_after_the_deadline() -> None:
    server = Server([Overloaded("full", retry_after_s=60)], [1])
    with deadline_in(30), pytest.raises(Overloaded):
        await anext(server.stream())
    assert server.pauses == []


async def test_other_failures_are_not_retried() -> None:
    server = Server([DeadlineExceeded("late")], [1])
    with pytest.raises(DeadlineExceeded):
        await anext(server.stream())
    assert server.started == 1


async def test_closing_it_closes_the_stream_that_is_open() -> None:
    server = Server([1, 2, 3])
    async with aclosing(server.stream()) as events:
        await anext(events)
    assert server.closed == 1


async def test_a_unary_call_is_retried_in_the_same_way() -> None:
    answers: list[ScaarError | None] = [AWAY, None]

    async def ask() -> str:
        if error := answers.pop(0):
            raise error
        return "an answer"

    async def pause(seconds: float) -> None: ...

    assert await served_answer(ask, server="it", silence=PATIENT, sleep=pause) == "an answer"


async def test_the_stream_of_a_silent_server_is_closed() -> None:
    closed = asyncio.Event()

    async def silent() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with aclosing(served_stream(silent, server="it", silence=Silence(5, 5, 0.02))) as events:
        assert await anext(events) == 1
        with pytest.raises(DeadlineExceeded, match=r"it sent nothing for 0\.02 s"):
            await anext(events)
    assert closed.is_set()


async def test_a_server_that_reports_that_it_reads_may_be_silent_for_longer() -> None:
    async def reading() -> AsyncGenerator[int, None]:
        yield 0
        await asyncio.sleep(0.1)
        yield 1

    for reading_s, expected in ((None, [0, 1]), (0.02, [0])):
        silence, seen = Silence(5, reading_s, 5), list[int]()
        stream = served_stream(
            reading, server="it", silence=silence, reads=lambda event: event == 0
        )
        with pytest.raises(DeadlineExceeded) if reading_s else nullcontext():
            async for event in stream:
                seen.append(event)
        assert seen == expected


async def test_a_stream_that_fails_while_the_prompt_is_read_is_retried() -> None:
    server = Server([0, AWAY], [0, 1, 2])
    stream = served_stream(
        server.begin,
        server="it",
        silence=PATIENT,
        reads=lambda event: event == 0,
        sleep=server.pause,
    )
    assert [event async for event in stream] == [0, 0, 1, 2]


async def test_a_silent_server_is_reported_with_the_setting_of_the_limit() -> None:
    async def silent() -> AsyncGenerator[int, None]:
        await asyncio.Event().wait()
        yield 1

    with pytest.raises(DeadlineExceeded, match=r"0\.02 s.* SCAAR_GENERATOR_READ_TIMEOUT_S"):
        await anext(served_stream(silent, server="it", silence=Silence(0.02, 5, 5)))


async def test_a_timeout_of_the_stream_itself_is_not_taken_for_silence() -> None:
    async def begin() -> AsyncGenerator[int, None]:
        for text in ("of something else",):
            raise TimeoutError(text)
        yield 1

    with pytest.raises(TimeoutError, match="of something else"):
        await anext(served_stream(begin, server="it", silence=PATIENT))


@given(
    texts=st.lists(st.sampled_from(["", "a", " b", "c.", "\n", "ab c"]), max_size=12),
    stop=st.lists(st.sampled_from(["c", "a b", "\n", "b c."]), max_size=3, unique=True),
)
def test_the_tokens_cover_the_text_up_to_the_first_stop_string(
    texts: list[str], stop: list[str]
) -> None:
    written, tokens = ServedText(tuple(stop)), []
    for number, text in enumerate(texts):
        tokens += written.feed(ServedToken(number, text))
        if written.met:
            break
    if not written.met:
        tokens += written.flush()
    whole = "".join(texts)
    cuts = [whole.index(each) for each in stop if each in whole]
    assert "".join(token.text for token in tokens) == (whole[: min(cuts)] if cuts else whole)
    assert written.met == bool(cuts)
    at = 0
    for token in tokens:
        assert (token.start, token.end) == (at, at + len(token.text))
        at = token.end


def test_a_slot_is_released_however_its_block_ends() -> None:
    slots = CallSlots(1)
    for _ in range(2):
        with suppress(ValueError), slots.slot():
            with (
                pytest.raises(Overloaded, match="the limit of 1 concurrent generations is reached"),
                slots.slot(),
            ):
                pass
            raise ValueError
    assert slots.in_use == 0
    slots.limit = 2
    with slots.slot(), slots.slot():
        assert slots.in_use == 2
