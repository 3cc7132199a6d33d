"""``iter_retgen``, compared with a simulation of its rule over the lab's model and index."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from scaar.compose import open_answerer, open_generator, open_retriever
from scaar.core.ports import Generator, Retriever
from scaar.core.types import (
    AnswerDrafted,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    GenerateRequest,
    PassagesRetrieved,
    PolicyRequest,
    QueryBuilt,
    RetrieveRequest,
    Token,
)
from scaar.lab.questions import draw_questions
from scaar.lab.world import World

ROUNDS, TOP_K, QUESTIONS = 3, 3, 12


@dataclass(frozen=True)
class Round:
    query: str
    passages: tuple[str, ...]
    answer: str


async def simulated(generator: Generator, retriever: Retriever, question: str) -> list[Round]:
    """Return the rounds by the rule: query = question + previous answer, prompt = question."""
    rounds, answer = list[Round](), ""
    for _ in range(ROUNDS):
        query = f"{question}{answer}"
        found = await retriever.retrieve(RetrieveRequest((query,), TOP_K, "lab"))
        texts = [f"[{each.rank}] {each.text}\n" for each in found.results[0]]
        prompt = f"Context:\n{''.join(texts)}Question: {question}\nAnswer:"
        answer = ""
        async with aclosing(generator.generate(GenerateRequest(prompt, max_tokens=256))) as events:
            async for event in events:
                answer += event.text if isinstance(event, Token) else ""
        rounds.append(Round(query, tuple(each.id for each in found.results[0]), answer))
    return rounds


def rounds_in(events: Sequence[AnswerEvent]) -> list[Round]:
    queries = [each.query.text for each in events if isinstance(each, QueryBuilt)]
    found = [
        tuple(passage.id for passage in each.passages)
        for each in events
        if isinstance(each, PassagesRetrieved)
    ]
    answers = [each.text for each in events if isinstance(each, AnswerDrafted)]
    answers += [each.answer.text for each in events if isinstance(each, AnswerFinished)]
    return [Round(*each) for each in zip(queries, found, answers, strict=True)]


async def test_queries_passages_and_answers_of_every_round_follow_the_rule(world: World) -> None:
    questions = [each.question for each in draw_questions(world, count=QUESTIONS, split="tail")]
    changed = 0
    async with (
        open_answerer() as answerer,
        open_generator() as generator,
        open_retriever() as retriever,
    ):
        for question in questions:
            request = AnswerRequest(question, PolicyRequest("iter_retgen"))
            async with aclosing(answerer.stream_answer(request)) as stream:
                rounds = rounds_in([event async for event in stream])
            assert rounds == await simulated(generator, retriever, question)
            changed += len({each.answer for each in rounds}) > 1
    assert changed > QUESTIONS / 4, "later rounds change some answers"
