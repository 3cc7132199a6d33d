"""An answerer of whole evaluations, whose answers and bills are the same however often asked."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Collection
from dataclasses import replace

from scaar.core.errors import BackendUnavailable
from scaar.core.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    GenerateRequest,
    Passage,
    Provenance,
    Usage,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer

PASSAGES = (Passage("p1", "Ada", "Ada was born in Paris."),)


class SteadyAnswerer:
    """Answers Ada, times aside as the loop does; a question's bill is told by its letters.

    Questions that hold one of ``failing`` fail, as many times as that is given, for good where it
    is 0. ``answering`` is cleared to hold every answer up behind its opening.
    """

    def __init__(self, failing: Collection[tuple[str, int]] = ()) -> None:
        generator = ScriptedGenerator(_script)
        index = InMemoryRetriever({"lab": PASSAGES})
        self._loop = AdaptiveLoop(Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), index))
        self._failing = failing
        self.revision = "1"
        """The model's; another is another model."""
        self.asked: Counter[str] = Counter()
        """How often the answer to each question was waited for beyond its opening."""
        self.waiting = asyncio.Event()
        """Set when an answer is waited for beyond its opening."""
        self.answering = asyncio.Event()
        self.answering.set()

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """The loop's events, the bill made steady."""
        async for event in self._loop.stream_answer(request):
            if isinstance(event, AnswerStarted):
                event = AnswerStarted(self._made(event.provenance))
            if isinstance(event, AnswerFinished):
                made = self._made(event.answer.provenance)
                bill = _bill(request, event)
                event = AnswerFinished(replace(event.answer, usage=bill, provenance=made))
            yield event
            if isinstance(event, AnswerStarted):
                self.asked[request.question] += 1
                self.waiting.set()
                await self.answering.wait()
                self._fail(request.question)

    def _made(self, provenance: Provenance) -> Provenance:
        return replace(provenance, model_revision=self.revision)

    def _fail(self, question: str) -> None:
        for part, times in self._failing:
            if part in question and (not times or self.asked[question] <= times):
                raise BackendUnavailable("nobody answers")


def _script(request: GenerateRequest) -> list[Piece]:
    return [(" So the answer is Ada.", -0.9)]


def _bill(request: AnswerRequest, event: AnswerFinished) -> Usage:
    return Usage(
        retrievals=event.answer.usage.retrievals,
        llm_calls=2,
        generated_tokens=len(request.question),
        prompt_tokens=40,
        latency_ms=12.5,
    )
