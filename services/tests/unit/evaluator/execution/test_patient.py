import asyncio
from collections.abc import AsyncGenerator, Sequence

from scaar.core.errors import BackendUnavailable, DataCorrupt, Overloaded, ScaarError
from scaar.core.loop import AdaptiveLoop, Ports
from scaar.core.types import AnswerEvent, AnswerRequest, Passage, PolicyRequest, SentenceJudged
from scaar.evaluator.execution.patient import PatientAnswerer, Waiting
from scaar.evaluator.execution.predict import predict
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Prediction, Question, Setting
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

QUESTION = Question("q1", "Where was Ada born?", ("London",), "Ada")
WORK = Work(Setting("flare", PolicyRequest("flare")), QUESTION)
NO_ROOM = Overloaded("no room", retry_after_s=7.0)
AWAY = BackendUnavailable("away")


class Clock:
    """A clock that goes by what is slept, unless it is held."""

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
    def waiting(self) -> Waiting:
        return Waiting(lambda: self.now, self.sleep, lambda: 0.0)


class FailingAnswerer:
    """The loop; the first times it is asked it fails, after its first judged sentence if late."""

    def __init__(self, errors: Sequence[ScaarError], *, late: bool = False) -> None:
        generator = ScriptedGenerator(
            lambda request: [
                (" So the answer is London.", -0.1) if request.prefix else (" Ada was", -1.7)
            ]
        )
        retriever = InMemoryRetriever({"lab": (Passage("p1", "Ada", "Ada was born in London."),)})
        self._loop = AdaptiveLoop(
            Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), retriever)
        )
        self._errors = list(errors)
        self.asked = 0
        self._late = late

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        self.asked += 1
        error = self._errors.pop(0) if self._errors else None
        if error is not None and not self._late:
            raise error
        async for event in self._loop.stream_answer(request):
            yield event
            if error is not None and isinstance(event, SentenceJudged):
                raise error


async def asked(answerer: FailingAnswerer, clock: Clock, patience_s: float = 60.0) -> Prediction:
    patient = PatientAnswerer(answerer, patience_s=patience_s, waiting=clock.waiting)
    return (await predict(patient, WORK, AnswerRequest(""))).prediction


def told(prediction: Prediction) -> tuple[object, ...]:
    """All but times."""
    return prediction.answer, prediction.text, prediction.decisions, prediction.usage.retrievals


async def test_who_has_no_room_is_asked_again_after_the_time_that_it_named() -> None:
    clock = Clock()
    found = await asked(FailingAnswerer([NO_ROOM, NO_ROOM]), clock)
    assert found.answer == "London"
    assert clock.slept == [7.0, 7.0]


async def test_while_there_is_no_room_nothing_else_is_asked_either() -> None:
    clock = Clock()
    clock.goes.clear()
    answerer = FailingAnswerer([NO_ROOM])
    patient = PatientAnswerer(answerer, patience_s=60.0, waiting=clock.waiting)
    asking = []
    for waits in ([7.0], [7.0, 7.0]):
        asking.append(asyncio.create_task(predict(patient, WORK, AnswerRequest(""))))
        for _ in range(20):
            await asyncio.sleep(0)
        assert (answerer.asked, clock.slept) == (1, waits)
    clock.goes.set()
    found = await asyncio.gather(*asking)
    assert [each.prediction.answer for each in found] == ["London", "London"]


async def test_who_does_not_answer_is_asked_again_ever_more_rarely() -> None:
    clock = Clock()
    found = await asked(FailingAnswerer([AWAY] * 8), clock)
    assert found.answer == "London"
    assert clock.slept == [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]


async def test_an_answer_that_broke_off_begins_again_and_leaves_nothing_behind() -> None:
    undisturbed = await asked(FailingAnswerer([]), Clock())
    found = await asked(FailingAnswerer([AWAY, NO_ROOM], late=True), Clock())
    assert told(found) == told(undisturbed)


async def test_patience_ends() -> None:
    clock = Clock()
    found = await asked(FailingAnswerer([AWAY] * 1_000), clock, patience_s=60.0)
    assert found.failure is not None
    assert found.failure.reason == "BACKEND_UNAVAILABLE"
    assert clock.now >= 160.0


async def test_another_error_is_told_at_once() -> None:
    clock = Clock()
    found = await asked(FailingAnswerer([DataCorrupt("damaged")]), clock)
    assert found.failure is not None
    assert (found.failure.reason, clock.slept) == ("DATA_CORRUPT", [])


async def test_what_a_question_waited_is_told_by_its_reason() -> None:
    clock, told = Clock(), []
    patient = PatientAnswerer(
        FailingAnswerer([AWAY, NO_ROOM, AWAY]),
        patience_s=60.0,
        waiting=clock.waiting,
        held_back=lambda reason, seconds: told.append((reason, seconds)),
    )
    await predict(patient, WORK, AnswerRequest(""))
    assert told == [
        ("BACKEND_UNAVAILABLE", 0.25),
        ("OVERLOADED", 7.0),
        ("BACKEND_UNAVAILABLE", 0.5),
    ]
