from collections.abc import AsyncGenerator

from bench import overload
from scaar.core.calls.capacity import AnswerCapacity, CapacityLimits
from scaar.core.errors import Overloaded
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import Answerer
from scaar.core.types import AnswerEvent, AnswerRequest, Token, TokenDrafted
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    InMemoryRetriever,
    ScriptedGenerator,
    ScriptedScorer,
)


async def test_goodput_is_compared_and_refusals_are_distinguished() -> None:
    generator = ScriptedGenerator(lambda request: [(" So the answer is Ada.", -0.1)], delay_s=0.01)
    ports = Ports(
        generator, ScriptedScorer({}), LocalQueryBuilder(), InMemoryRetriever({"lab": []})
    )
    capacity = AnswerCapacity(CapacityLimits(max_answers=2, max_queued=1))
    answerer: Answerer = AdaptiveLoop(ports, capacity=capacity, default_index="lab")
    found = await overload.compare(answerer, ["Who?", "Where?"], window_s=0.1)
    assert len(found.search) == len(overload.CLIENTS)
    assert len(found.best) == len(found.overload) == overload.ROUNDS
    assert found.refused_late == 0
    *_, overloaded = found.rows()
    columns = dict(zip(overload.COLUMNS, overloaded, strict=True))
    assert int(columns["refused at admission"]) > 0
    assert int(columns["other errors"]) == 0


async def test_an_answer_refused_after_its_first_token_is_counted_as_late() -> None:
    class Late:
        async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
            yield TokenDrafted(0, Token(0, " x", 0, 2))
            raise Overloaded("too late", retry_after_s=0.01)

    found = await overload.compare(Late(), ["Who?"], window_s=0.02)
    assert found.refused_late > 0
    assert found.ratio == 0
