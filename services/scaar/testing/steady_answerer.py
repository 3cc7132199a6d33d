"""Answerer for whole evaluations with deterministic answers and usage."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from dataclasses import replace

from scaar.core.errors import BackendUnavailable
from scaar.core.loop.loop import AdaptiveLoop, Ports
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
from scaar.testing.fakes import (
    SCRIPTED_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)

Script = Callable[[GenerateRequest], Sequence[Piece]]
PASSAGES = (Passage("p1", "Ada", "Ada was born in Paris."),)


class SteadyAnswerer:
    """Answers "Ada" with the events of the loop; the usage depends on the letters of the question.

    A question that contains one of the texts in ``failing`` fails this number of times, always if
    the number is 0. ``script`` returns the text that the model generates. Clear ``answering`` to
    pause every answer after its first event.
    """

    def __init__(
        self, failing: Collection[tuple[str, int]] = (), *, script: Script | None = None
    ) -> None:
        generator = ScriptedGenerator(script or _script)
        index = InMemoryRetriever({"lab": PASSAGES})
        self._loop = AdaptiveLoop(
            Ports(generator, ScriptedScorer({}), LocalQueryBuilder(), index), default_index="lab"
        )
        self.failing = failing
        """Questions that fail; change it to repair them."""
        self.model, self.revision = SCRIPTED_MODEL.model, "1"
        """Name and revision of the model. Change them to simulate another model."""
        self.answers: Counter[str] = Counter()
        """Number of answers to each question that were awaited after their first event."""
        self.waiting = asyncio.Event()
        """Set when an answer is awaited after its first event."""
        self.answering = asyncio.Event()
        self.answering.set()
        self.paused = ""
        """Text of the questions that a cleared ``answering`` pauses; empty for all."""

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of the loop with deterministic usage."""
        async for event in self._loop.stream_answer(request):
            if isinstance(event, AnswerStarted):
                event = AnswerStarted(self._made(event.provenance))
            if isinstance(event, AnswerFinished):
                made = self._made(event.answer.provenance)
                usage = _usage(request, event)
                event = AnswerFinished(replace(event.answer, usage=usage, provenance=made))
            yield event
            if isinstance(event, AnswerStarted):
                self.answers[request.question] += 1
                self.waiting.set()
                if self.paused in request.question:
                    await self.answering.wait()
                self._fail(request.question)

    def _made(self, provenance: Provenance) -> Provenance:
        return replace(provenance, model=self.model, model_revision=self.revision)

    def _fail(self, question: str) -> None:
        for part, times in self.failing:
            if part in question and (not times or self.answers[question] <= times):
                raise BackendUnavailable("nobody answers")


def varied(request: GenerateRequest) -> list[Piece]:
    """Return a text whose probability depends on the prompt, so that trigger scores differ."""
    if request.prefix:
        return [(" So the answer is Ada.", -0.1)]
    return [(" Ada was born in Paris.", -0.1 - 0.07 * (sum(map(ord, request.prompt)) % 11))]


def _script(request: GenerateRequest) -> list[Piece]:
    return [(" So the answer is Ada.", -0.9)]


def _usage(request: AnswerRequest, event: AnswerFinished) -> Usage:
    return Usage(
        retrievals=event.answer.usage.retrievals,
        llm_calls=2,
        generated_tokens=len(request.question),
        prompt_tokens=40,
        latency_ms=12.5,
    )
