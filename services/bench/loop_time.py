"""The loop's own time per sentence, measured with scripted ports that answer immediately."""

import time
from collections.abc import Callable
from contextlib import aclosing
from statistics import median

from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.requirements import streams_attention
from scaar.core.types import (
    AnswerFinished,
    AnswerRequest,
    BudgetLimits,
    GenerateRequest,
    Passage,
    PolicyRequest,
)
from scaar.evaluator.planning.settings import default_policies
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    WHITE_BOX_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)

SENTENCE = " The film that Ada Byron made in London was shown in Paris."
SENTENCES = 20
COLUMNS = ("policy", "loop and scripted ports", "the scripted tokens alone")


async def loop_us(policy: str, *, answers: int = 20) -> tuple[float, float]:
    """Return microseconds per sentence of the loop with fakes, and of the fakes' tokens alone."""
    script = _script()
    ports = Ports(
        ScriptedGenerator(script, model=WHITE_BOX_MODEL),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": [Passage("p", "Ada", "Ada Byron made a film.")]}),
    )
    budget = BudgetLimits(max_sentences=100, max_tokens=8_192, max_retrievals=100)
    request = AnswerRequest("Who made it?", PolicyRequest(policy), budget=budget)
    loop = AdaptiveLoop(ports, default_index="lab")
    effective = effective_policy(request.policy, WHITE_BOX_MODEL)
    alone = GenerateRequest("Who made it?", max_tokens=1024, attention=streams_attention(effective))
    with_loop, without = [], []
    for _ in range(answers):
        started = time.perf_counter()
        async with aclosing(ports.generator.generate(alone)) as tokens:
            async for _token in tokens:
                pass
        without.append(time.perf_counter() - started)
        started = time.perf_counter()
        count = 0
        async with aclosing(loop.stream_answer(request)) as events:
            async for event in events:
                if isinstance(event, AnswerFinished):
                    count = len(event.answer.sentences)
        with_loop.append((time.perf_counter() - started) / count)
    return median(with_loop) * 1e6, median(without) * 1e6 / (SENTENCES + 1)


async def rows(*, answers: int = 20) -> list[tuple[str, str, str]]:
    """Return a row for each policy."""
    found = []
    for policy in default_policies():
        loop, alone = await loop_us(policy, answers=answers)
        found.append((policy, f"{loop:.0f}", f"{alone:.0f}"))
    return found


def _script() -> Callable[[GenerateRequest], list[Piece]]:
    words = [(f" {word}", -0.01) for word in SENTENCE.split()]
    text: list[Piece] = [*words * SENTENCES, (" So the answer is Ada.", -0.01)]
    starts, at = {}, 0
    for number, (piece, _) in enumerate(text):
        starts[at] = number
        at += len(piece)

    def continuation(request: GenerateRequest) -> list[Piece]:
        return text[starts[len(request.prefix)] :]

    return continuation
