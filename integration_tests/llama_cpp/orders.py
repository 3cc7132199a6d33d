"""Count decisions that depend on which questions were answered before, or at the same time.

    python -m integration_tests.llama_cpp.orders QUESTIONS --index NAME [--count N] [--policy NAME]

QUESTIONS are JSON lines with ``question``. The settings ``SCAAR_*`` select the model, and the index
must exist. The questions are answered one at a time, again in another order, and again several
concurrently. A decision is a judged sentence, the query of a retrieval, or an accepted sentence.
"""

import argparse
import asyncio
import json
import random
import time
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
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--policy", default="flare")
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--sentences", type=int, default=3)
    options = parser.parse_args()
    with options.questions.open() as lines:
        questions = [json.loads(line)["question"] for line in lines][: options.count]
    async with open_client() as client:
        answerer = Answers(client, options)
        expected = await answerer.answered(questions, concurrency=1)
        print(f"one at a time: {answerer.seconds:.0f} s", flush=True)
        shuffled = random.Random(7).sample(questions, len(questions))
        for name, concurrency in (("another order", 1), ("concurrently", options.concurrency)):
            found = await answerer.answered(shuffled, concurrency=concurrency)
            print(f"{name}, {concurrency}: {compared(expected, found)}, {answerer.seconds:.0f} s")


class Answers:
    """Answers questions and keeps their decisions."""

    def __init__(self, client: Client, options: argparse.Namespace) -> None:
        self._client = client
        self._options = options
        self.seconds = 0.0

    async def answered(self, questions: Sequence[str], *, concurrency: int) -> dict[str, Decisions]:
        """Return the decisions by question."""
        began, places = time.monotonic(), asyncio.Semaphore(concurrency)

        async def one(question: str) -> Decisions:
            async with places:
                return await self._decisions(question)

        found = await asyncio.gather(*map(one, questions))
        self.seconds = time.monotonic() - began
        return dict(zip(questions, found, strict=True))

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
