"""Policies at a matched retrieval budget: their thetas, and the cost of their answers."""

import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from statistics import fmean, median

from bench.answers import answered
from scaar.core.ports import Answerer
from scaar.core.types import (
    Answer,
    AnswerRequest,
    BudgetLimits,
    PolicyOverrides,
    PolicyRequest,
    SentenceJudged,
)
from scaar.evaluator.studies.grid.candidates import quantiles

POLICIES = ("flare", "scaar", "dragin")
RETRIEVALS = 1.0
"""A question, of every policy: near what the lab's models take at their recommended thetas."""
AIMS = {"flare": "at most 1.10x", "dragin": "below 1x"}
"""What SCAAR's time is to be over theirs, at 10 ms a token."""
CANDIDATES = 64
PARTS = ("generation", "scoring", "retrieval")
COLUMNS = (
    "policy",
    "theta",
    "retrievals",
    "calls",
    "generated",
    "prompt",
    "ms",
    "over flare",
    "spread",
    *PARTS,
)


@dataclass(frozen=True, slots=True)
class Round:
    """A round over all questions: the answers, and the milliseconds per question."""

    answers: Sequence[Answer]
    ms: float

    def mean(self, field: str) -> float:
        """Return the mean of a usage field."""
        return fmean(getattr(answer.usage, field) for answer in self.answers)


@dataclass(frozen=True, slots=True)
class Asked:
    """A policy at its theta in several rounds; reported values are medians over the rounds."""

    policy: PolicyRequest
    rounds: Sequence[Round]

    def over(self, other: "Asked") -> list[float]:
        """Return the ratios of each round's time to the other's in the same round, rising."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return sorted(mine.ms / others.ms for mine, others in pairs)

    def cells(self, flare: "Asked") -> tuple[str, ...]:
        """Return a row of the table."""
        ratios = self.over(flare)
        return (
            self.policy.name,
            f"{self.policy.overrides.theta:.4g}",
            f"{self._usual('retrievals'):.2f}",
            f"{self._usual('llm_calls'):.2f}",
            f"{self._usual('generated_tokens'):.1f}",
            f"{self._usual('prompt_tokens'):.0f}",
            f"{median(each.ms for each in self.rounds):.0f}",
            f"{median(ratios):.3f}x",
            f"{ratios[0]:.3f} to {ratios[-1]:.3f}",
            *(f"{self._usual(f'{part}_ms'):.1f}" for part in PARTS),
        )

    def _usual(self, field: str) -> float:
        return median(each.mean(field) for each in self.rounds)


async def at_equal_retrievals(
    answerer: Answerer, questions: Sequence[str], *, retrievals: float = RETRIEVALS
) -> list[PolicyRequest]:
    """Return each policy at the theta nearest to a number of retrievals per question.

    Candidates are quantiles of the trigger scores where nothing is retrieved. What a theta really
    spends is known only by asking, since what is retrieved changes what follows: they are halved.
    """
    return [await _placed(answerer, questions, name, retrievals) for name in POLICIES]


async def ask_by_turns(
    answerer: Answerer,
    questions: Sequence[str],
    policies: Sequence[PolicyRequest],
    *,
    rounds: int,
) -> Mapping[str, Asked]:
    """Run every policy on every question in every round, with a different policy first."""
    # Warm up, so that first-use costs count for no policy.
    for policy in (PolicyRequest("single_round"), *policies):
        await answered(answerer, AnswerRequest(questions[0], policy))
    found: dict[str, list[Round]] = {policy.name: [] for policy in policies}
    for number in range(rounds):
        answers: dict[str, list[Answer]] = {name: [] for name in found}
        seconds = dict.fromkeys(found, 0.0)
        for position, question in enumerate(questions):
            first = (number + position) % len(policies)
            for policy in (*policies[first:], *policies[:first]):
                began = time.perf_counter()
                answer = await answered(answerer, AnswerRequest(question, policy))
                seconds[policy.name] += time.perf_counter() - began
                answers[policy.name].append(answer)
        for name, rounds_of in found.items():
            rounds_of.append(Round(answers[name], seconds[name] * 1000 / len(questions)))
    return {policy.name: Asked(policy, found[policy.name]) for policy in policies}


async def _placed(
    answerer: Answerer, questions: Sequence[str], name: str, retrievals: float
) -> PolicyRequest:
    thetas = quantiles(await _scores(answerer, questions, name), CANDIDATES)
    spent: dict[int, float] = {}

    async def spends(at: int) -> float:
        if at not in spent:
            policy = _at(name, thetas[at])
            found = [await answered(answerer, AnswerRequest(each, policy)) for each in questions]
            spent[at] = fmean(answer.usage.retrievals for answer in found)
        return spent[at]

    low, high = 0, len(thetas) - 1
    rising = await spends(low) <= await spends(high)
    while high - low > 1:
        middle = (low + high) // 2
        if (await spends(middle) < retrievals) == rising:
            low = middle
        else:
            high = middle
    nearest = min(spent, key=lambda at: (abs(spent[at] - retrievals), spent[at]))
    return _at(name, thetas[nearest])


async def _scores(answerer: Answerer, questions: Sequence[str], name: str) -> list[float]:
    """Return the trigger score of every sentence without retrieval."""
    found = []
    for question in questions:
        budget = replace(BudgetLimits(), max_retrievals=0)
        request = AnswerRequest(question, PolicyRequest(name), budget=budget)
        async with aclosing(answerer.stream_answer(request)) as events:
            async for event in events:
                if isinstance(event, SentenceJudged) and event.score is not None:
                    found.append(event.score)
    return found


def _at(name: str, theta: float) -> PolicyRequest:
    return PolicyRequest(name, PolicyOverrides(theta=theta))
