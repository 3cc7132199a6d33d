"""``model_asks`` over the lab's model and index."""

from contextlib import aclosing
from types import MappingProxyType

import pytest

from scaar.compose import open_answerer, open_generator
from scaar.core.loop import search_on_request
from scaar.core.ports import Answerer, Generator
from scaar.core.prompts.dialects import DIALECTS, Dialect
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    GenerateRequest,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    SearchDecision,
    SearchDialect,
    SearchRequested,
    Token,
)
from scaar.lab.questions import draw_questions
from scaar.lab.world import World

LAB = Dialect(
    "Question: {question}\nAnswer:",
    query=(" was directed by", "."),
    results=("", "\n"),
    answer=(" So the answer is", "."),
    passage="\n[{rank}] {text}",
    forcing=" So the answer is",
)
"""Tags that the model writes without training: the name of a director is a request."""
QUESTIONS = 4


async def answered(answerer: Answerer, question: str, **overrides: object) -> list[AnswerEvent]:
    policy = PolicyRequest("model_asks", PolicyOverrides(**overrides))  # type: ignore[arg-type]
    async with aclosing(answerer.stream_answer(AnswerRequest(question, policy))) as stream:
        return [event async for event in stream]


async def continued(generator: Generator, prompt: str, prefix: str) -> str:
    request = GenerateRequest(prompt, prefix, max_tokens=256, stop=(".",))
    async with aclosing(generator.generate(request)) as events:
        return "".join([event.text async for event in events if isinstance(event, Token)])


async def test_the_model_continues_its_text_after_the_results_of_its_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_lab = MappingProxyType({SearchDialect.SEARCH_R1: LAB})
    monkeypatch.setattr(search_on_request, "DIALECTS", only_lab)
    drawn = [each.question for each in draw_questions(world, count=60, split="head")]
    questions = [each for each in drawn if "of the director of the film" in each][:QUESTIONS]
    async with open_answerer() as answerer, open_generator() as generator:
        for question in questions:
            events = await answered(answerer, question)
            requests = [each for each in events if isinstance(each, SearchRequested)]
            found = next(each for each in events if isinstance(each, PassagesRetrieved))
            first, prompt = requests[0], f"Question: {question}\nAnswer:"
            written = await continued(generator, prompt, "")
            assert (first.decision, written) == (
                SearchDecision.SEARCHED,
                f"{first.text} was directed by {first.query}",
            )
            assert first.query in [passage.title for passage in found.passages]
            lines = [f"\n[{each.rank}] {each.text}" for each in found.passages]
            results = "\n".join([*lines, ""])
            then = await continued(generator, prompt, f"{written}.{results}")
            finished = events[-1]
            assert isinstance(finished, AnswerFinished)
            answer = finished.answer
            if requests[1:]:
                assert then == f"{requests[1].text} was directed by {requests[1].query}"
            assert answer.text == answer.answer != ""
            assert " was directed by" not in answer.text
            assert answer.usage.searches == 1


async def test_a_model_that_knows_no_tags_never_asks_and_gets_an_answer_forced(
    world: World,
) -> None:
    (question,) = (each.question for each in draw_questions(world, count=1, split="tail"))
    async with open_answerer() as answerer:
        for name, dialect in DIALECTS.items():
            events = await answered(answerer, question, dialect=name)
            finished = events[-1]
            assert isinstance(finished, AnswerFinished)
            assert finished.answer.usage.retrievals == 0
            assert not any(tag in finished.answer.text for tag in dialect.stop)
