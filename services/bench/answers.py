"""Cost of answers over plain generation by the same engine, on the lab's questions."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from statistics import fmean, median

from bench.timing import Compared, compare
from scaar.core.ports import Answerer, Generator
from scaar.core.prompts import profile_of
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    GenerateRequest,
    PolicyOverrides,
    PolicyRequest,
)
from scaar.evaluator.planning.settings import default_policies

NEVER_TRIGGERS = tuple(
    PolicyRequest(name, PolicyOverrides(theta=1e-9)) for name in ("flare", "scaar")
)
"""Policies that judge every word of every sentence and never retrieve."""


@dataclass(frozen=True, slots=True)
class PolicyCost:
    """The cost of a policy's answers over the text of the model alone."""

    policy: str
    compared: Compared
    answers: Sequence[Answer]

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table."""
        usages = [answer.usage for answer in self.answers]
        return (
            self.policy,
            f"{median(self.compared.other_ms):.1f}",
            f"{self.compared.ratio:.2f}x",
            f"{fmean(usage.retrievals for usage in usages):.2f}",
            f"{fmean(usage.llm_calls for usage in usages):.2f}",
            f"{fmean(usage.generated_tokens for usage in usages):.0f}",
        )


COLUMNS = ("policy", "median ms", "over plain generation", "retrievals", "model calls", "tokens")


async def costs(
    generator: Generator, answerer: Answerer, questions: Sequence[str]
) -> list[PolicyCost]:
    """Return the cost of every policy at its recommended settings on every question."""
    found = []
    for name in default_policies():
        answers: list[Answer] = []

        async def ask(question: str, name: str = name, kept: list[Answer] = answers) -> None:
            kept.append(await answered(answerer, AnswerRequest(question, PolicyRequest(name))))

        compared = await compare(questions, lambda each: plain(generator, each), ask, rounds=1)
        found.append(PolicyCost(name, compared, answers))
    return found


async def overhead(
    generator: Generator,
    answerer: Answerer,
    questions: Sequence[str],
    policy: PolicyRequest,
    *,
    rounds: int,
) -> Compared:
    """Compare an answer with the same text from the engine alone."""
    return await compare(
        questions,
        lambda each: plain(generator, each),
        lambda each: answered(answerer, AnswerRequest(each, policy)),
        rounds=rounds,
    )


async def plain(generator: Generator, question: str) -> int:
    """Generate the model's text for a question and return the number of events."""
    profile = profile_of("lab")
    request = GenerateRequest(profile.render(question), stop=profile.stop)
    count = 0
    async with aclosing(generator.generate(request)) as events:
        async for _ in events:
            count += 1
    return count


async def answered(answerer: Answerer, request: AnswerRequest) -> Answer:
    """Return the answer after reading all its events."""
    answer = None
    async with aclosing(answerer.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, AnswerFinished):
                answer = event.answer
    assert answer is not None
    return answer
