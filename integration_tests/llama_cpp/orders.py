"""Count decisions that depend on which questions were answered before, or at the same time.

    python -m integration_tests.llama_cpp.orders QUESTIONS --index NAME --out FILE [--count N]

QUESTIONS are JSON lines with ``question``. The settings ``SCAAR_*`` select the model, and the index
must exist. The questions are answered one at a time, again in another order, and again several
concurrently. A decision is a judged sentence, the query of a retrieval, or an accepted sentence.
FILE has a line for every answer; a run that was interrupted continues with the questions that have
none.
"""

import argparse
import asyncio
import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from scaar.client import Client
from scaar.core.types import (
    BudgetLimits,
    PolicyRequest,
    QueryBuilt,
    SentenceAccepted,
    SentenceJudged,
)
from scaar.embedded import open_client

Decisions = tuple[tuple[object, ...], ...]


async def main() -> None:
    """Print the number of decisions and of different ones, for each way to answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--index", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--policy", default="flare")
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--sentences", type=int, default=3)
    options = parser.parse_args()
    with options.questions.open() as lines:
        questions = [json.loads(line)["question"] for line in lines][: options.count]
    shuffled = random.Random(7).sample(questions, len(questions))
    orders = (
        ("one at a time", questions, 1),
        ("another order", shuffled, 1),
        ("concurrently", shuffled, options.concurrency),
    )
    async with open_client() as client:
        answerer = Answers(client, options)
        for order, asked, concurrency in orders:
            await answerer.answer(order, asked, concurrency)
    expected = answerer.decisions["one at a time"]
    for order, _, concurrency in orders[1:]:
        print(f"{order}, {concurrency}: {compared(expected, answerer.decisions[order])}")


class Answers:
    """Answers questions, and keeps their decisions in the file."""

    def __init__(self, client: Client, options: argparse.Namespace) -> None:
        self._client = client
        self._options = options
        self.decisions: dict[str, dict[str, Decisions]] = defaultdict(dict)
        """The decisions by order and question."""
        if options.out.exists():
            for line in options.out.read_text().splitlines():
                stored = json.loads(line)
                decisions = tuple(map(tuple, stored["decisions"]))
                self.decisions[stored["order"]][stored["question"]] = decisions

    async def answer(self, order: str, questions: Sequence[str], concurrency: int) -> None:
        """Answer the questions in this order that have no stored answer."""
        began, places = time.monotonic(), asyncio.Semaphore(concurrency)
        remaining = [each for each in questions if each not in self.decisions[order]]

        async def answer_one(question: str) -> None:
            async with places:
                decisions = await self._decisions(question)
            self.decisions[order][question] = decisions
            with self._options.out.open("a") as file:
                stored = {"order": order, "question": question, "decisions": decisions}
                file.write(f"{json.dumps(stored)}\n")

        await asyncio.gather(*map(answer_one, remaining))
        print(f"{order}: {len(remaining)} answers, {time.monotonic() - began:.0f} s", flush=True)

    async def _decisions(self, question: str) -> Decisions:
        decisions: list[tuple[object, ...]] = []
        options = self._options
        streaming = self._client.stream_answer(
            question,
            policy=PolicyRequest(options.policy),
            index=options.index,
            budget=BudgetLimits(max_sentences=options.sentences, timeout_s=3600),
        )
        async with streaming as events:
            async for event in events:
                match event:
                    case SentenceJudged():
                        decisions.append(("judged", event.text, event.trigger, event.retrieving))
                    case QueryBuilt():
                        decisions.append(("query", event.query.text))
                    case SentenceAccepted():
                        decisions.append(("accepted", event.accepted.text))
        return tuple(decisions)


def compared(expected: dict[str, Decisions], found: dict[str, Decisions]) -> str:
    """Return how many answers and decisions differ. An answer has the most decisions of the two."""
    answers = decisions = total = 0
    for question, before in expected.items():
        after = found[question]
        total += len(before)
        different = sum(one != other for one, other in zip(before, after, strict=False))
        different += abs(len(before) - len(after))
        answers += different > 0
        decisions += different
    return f"{answers} of {len(expected)} answers, {decisions} of {total} decisions differ"


if __name__ == "__main__":
    asyncio.run(main())
