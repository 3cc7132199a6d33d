import asyncio
from collections.abc import AsyncGenerator, Sequence

from scaar.core.errors import BackendUnavailable, DataCorrupt, Overloaded, ScaarError
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import AnswerEvent, AnswerRequest, Passage, PolicyRequest, SentenceJudged
from scaar.evaluator.execution.prediction import predict
from scaar.evaluator.execution.retries import RetryingAnswerer, WaitSource
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

QUESTION = Question("q1", "Where was Ada born?", ("London",), "Ada")
WORK = Work(Setting("flare", PolicyRequest("flare")), QUESTION)
NO_ROOM = Overloaded("no room", retry_after_s=7.0)
AWAY = BackendUnavailable("away")


class Clock:
    """A clock that advances with every sleep, unless it is stopped."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.goes = asyncio.Event()
        self.goes.set()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        until = self.now + seconds
        await self.goes.wait()
        self.now = max(self.now, until)

    @property
    def waits(self) -> WaitSource:
        return WaitSource(lambda: self.now, self.sleep, lambda: 0.0)


class FailingAnswerer:
    """A loop whose first calls fail, after the first judged sentence if ``late``."""

    def __init__(self, errors: Sequence[ScaarError], *, late: bool = False) -> None:
        generator = ScriptedGenerator(
            lambda request: [
                (" So the answer is London.", -0.1) if request.prefix else (" Ada was", -1.7)
            ]
        )
        retriever = InMemoryRetriever({"lab": (Passage("p1", "Ada", "Ada was born in London."),)})
        self._loop = AdaptiveLoop(
            Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), retriever),
            default_index="lab",
        )
        self._errors = list(errors)
        self.calls = 0
        self._late = late

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        self.calls += 1
        error = self._errors.pop(0) if self._errors else None
        if error is not None and not self._late:
            raise error
        async for event in self._loop.stream_answer(request):
            yield event
            if error is not None and isinstance(event, SentenceJudged):
                raise error


async def predicted(
    answerer: FailingAnswerer, clock: Clock, patience_s: float = 60.0
) -> Prediction:
    retrying = RetryingAnswerer(answerer, patience_s=patience_s, waits=clock.waits)
    return (await predict(retrying, WORK, AnswerRequest(""))).prediction


def without_times(prediction: Prediction) -> tuple[object, ...]:
    """The fields of a prediction except its times."""
    return prediction.answer, prediction.text, prediction.decisions, prediction.usage.retrievals


async def test_an_overloaded_answerer_is_retried_after_the_returned_delay() -> None:
    clock = Clock()
    found = await predicted(FailingAnswerer([NO_ROOM, NO_ROOM]), clock)
    assert found.answer == "London"
    assert clock.slept == [7.0, 7.0]


async def test_no_question_is_sent_to_an_overloaded_answerer() -> None:
    clock = Clock()
    clock.goes.clear()
    answerer = FailingAnswerer([NO_ROOM])
    retrying = RetryingAnswerer(answerer, patience_s=60.0, waits=clock.waits)
    asking = []
    for expected in ([7.0], [7.0, 7.0]):
        asking.append(asyncio.create_task(predict(retrying, WORK, AnswerRequest(""))))
        for _ in range(20):
            await asyncio.sleep(0)
        assert (answerer.calls, clock.slept) == (1, expected)
    clock.goes.set()
    found = await asyncio.gather(*asking)
    assert [each.prediction.answer for each in found] == ["London", "London"]


async def test_an_unavailable_answerer_is_retried_with_backoff() -> None:
    clock = Clock()
    found = await predicted(FailingAnswerer([AWAY] * 8), clock)
    assert found.answer == "London"
    assert clock.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]


async def test_an_answer_that_broke_off_starts_again_without_earlier_events() -> None:
    undisturbed = await predicted(FailingAnswerer([]), Clock())
    found = await predicted(FailingAnswerer([AWAY, NO_ROOM], late=True), Clock())
    assert without_times(found) == without_times(undisturbed)


async def test_patience_ends() -> None:
    clock = Clock()
    found = await predicted(FailingAnswerer([AWAY] * 1_000), clock, patience_s=60.0)
    assert found.failure is not None
    assert found.failure.reason == "BACKEND_UNAVAILABLE"
    assert clock.now >= 160.0


async def test_any_other_error_is_not_retried() -> None:
    clock = Clock()
    found = await predicted(FailingAnswerer([DataCorrupt("damaged")]), clock)
    assert found.failure is not None
    assert (found.failure.reason, clock.slept) == ("DATA_CORRUPT", [])


async def test_waits_are_reported_with_their_reasons() -> None:
    clock, waited = Clock(), []
    retrying = RetryingAnswerer(
        FailingAnswerer([AWAY, NO_ROOM, AWAY]),
        patience_s=60.0,
        waits=clock.waits,
        on_wait=lambda reason, seconds: waited.append((reason, seconds)),
    )
    await predict(retrying, WORK, AnswerRequest(""))
    assert waited == [
        ("BACKEND_UNAVAILABLE", 0.25),
        ("OVERLOADED", 7.0),
        ("BACKEND_UNAVAILABLE", 0.5),
    ]
