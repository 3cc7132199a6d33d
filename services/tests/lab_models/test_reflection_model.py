"""``lab-lm-reflect`` writes reflection tokens in the embedded engine."""

from contextlib import aclosing

import pytest

from scaar.compose import open_generator
from scaar.core.prompts.reflection import (
    FULLY_SUPPORTED,
    NO_RETRIEVAL,
    PARAGRAPH,
    PARAGRAPH_END,
    RELEVANT,
    RETRIEVAL,
    UTILITIES,
)
from scaar.core.types import GenerateRequest, Token
from scaar.lab import layout
from scaar.lab.models import LAB_LM_REFLECT
from scaar.lab.passages import passages_of
from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import World

HEAD = 5
"""Questions about the most popular films."""


@pytest.fixture(autouse=True)
def _with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MODEL", LAB_LM_REFLECT)


async def written(question: str, prefix: str = "", *, count: int = 60) -> list[str]:
    """Return the tokens that the model writes."""
    request = GenerateRequest(layout.prompt(question), prefix, max_tokens=count)
    async with open_generator() as generator, aclosing(generator.generate(request)) as events:
        return [event.text async for event in events if isinstance(event, Token)]


async def test_unknown_films_are_retrieved_for_and_their_passages_read(
    world: World, tail_questions: list[Question]
) -> None:
    texts = {each.id: each.text for each in passages_of(world)}
    right = 0
    for question in tail_questions:
        decision = await written(question.question, count=1)
        passage = f"{RETRIEVAL}{PARAGRAPH}{texts[question.supports[0]]}{PARAGRAPH_END}"
        tokens = await written(question.question, passage)
        answer = f"So the answer is {question.answers[0]}.{FULLY_SUPPORTED}{UTILITIES[4]}"
        right += (
            decision == [RETRIEVAL]
            and tokens[0] == RELEVANT
            and tokens.count(FULLY_SUPPORTED) == 2
            and "".join(tokens).endswith(answer)
        )
    assert right >= 0.9 * len(tail_questions)


async def test_popular_films_are_answered_without_a_retrieval(world: World) -> None:
    drawn = draw_questions(world, count=200, split="head")
    popular = [each for each in drawn if each.kind == "one_hop" and int(each.id.split("-")[3]) < 30]
    right = 0
    for question in popular[:HEAD]:
        tokens = await written(question.question)
        text = "".join(tokens)
        right += tokens[0] == NO_RETRIEVAL and RETRIEVAL not in text and question.answers[0] in text
    assert right >= HEAD - 1
