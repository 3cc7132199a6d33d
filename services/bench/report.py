"""The report of the benchmarks: its parts and their measurements."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import (
    answers,
    attention_cost,
    batching,
    gateway,
    loop_time,
    matched,
    memory,
    overload,
    records,
)
from bench.servers import Servers, open_servers
from bench.tables import table
from scaar.compose import (
    LAB_SEED,
    ensure_lab_index,
    open_answerer,
    open_generator,
)
from scaar.core.ports import Answerer, Generator
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world

PARTS = (
    "embedded",
    "grpc",
    "attention",
    "memory",
    "paced",
    "equal",
    "overload",
    "loop",
    "batching",
    "gateway",
    "records",
)
PACE_MS = 10
OVERLOADED = {
    "8 generations of 30 ms a token": {
        "SCAAR_GENERATOR_MAX_CONCURRENT": "8",
        "SCAAR_GENERATOR_PACE_MS": "30",
    },
    "32 generations at full speed": {},
}
"""Generators for the overload. The first is bounded by its limit; the second by the CPU, which it
shares with the clients and with the refusals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is asked: questions of each part, rounds over those at equal retrievals, answers.

    ``window`` is the time in seconds for which goodput is measured at each load.
    """

    questions: int
    paced: int
    equal: int
    rounds: int
    answers: int
    window: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Running services, and clients of two of them."""

    generator: Generator
    answerer: Answerer
    servers: Servers


async def report(home: Path, parts: Collection[str], sizes: Sizes) -> None:
    """Measure the parts and print the results; the index is built in ``home``."""
    drawn = _questions(max(sizes.questions, sizes.paced, sizes.equal))
    questions = drawn[: sizes.questions]
    if "embedded" in parts:
        print("\n## Embedded\n")
        async with open_generator() as generator, open_answerer() as answerer:
            await _costs(generator, answerer, questions)
            await _overheads("embedded", generator, answerer, questions, rounds=3)
    if not {"grpc", "attention", "memory"}.isdisjoint(parts):
        await ensure_lab_index()
        async with _services(home) as services:
            if "grpc" in parts:
                print("\n## Five processes over gRPC\n")
                await _costs(services.generator, services.answerer, questions)
                await _overheads(
                    "unpaced", services.generator, services.answerer, questions, rounds=3, aim=1.5
                )
            if "attention" in parts:
                await _attention(services.generator, questions[:4])
            if "memory" in parts:
                await _memory(services, questions, sizes.answers)
    if not {"paced", "equal"}.isdisjoint(parts):
        await ensure_lab_index()
        async with _services(home, SCAAR_GENERATOR_PACE_MS=str(PACE_MS)) as services:
            if "paced" in parts:
                print(f"\n## A generator of {PACE_MS} ms per token, over gRPC")
                few = drawn[: sizes.paced]
                await _overheads(
                    "paced", services.generator, services.answerer, few, rounds=2, aim=1.03
                )
            if "equal" in parts:
                await _equal(services.answerer, drawn[: sizes.equal], rounds=sizes.rounds)
    if "overload" in parts:
        await ensure_lab_index()
        for generator_is, environment in OVERLOADED.items():
            async with _services(home, **environment) as services:
                await _overload(services.answerer, generator_is, sizes.window)
    if "loop" in parts:
        print("\n## The loop alone (microseconds per sentence of 12 words)\n")
        print(table(loop_time.COLUMNS, await loop_time.rows()))
    if "batching" in parts:
        print("\n## Concurrent generations by a random decoder of 86 million parameters\n")
        print(table(batching.COLUMNS, [each async for each in batching.rows(home)]))
        print(f"\n- Aim: a ratio of at least {batching.AIM:g} with a batch", flush=True)
    if "gateway" in parts:
        await ensure_lab_index()
        print("\n## The gateway over gRPC\n")
        print(table(gateway.COLUMNS, [each async for each in gateway.rows(questions[0])]))
        print(
            f"\n- Aims: a difference of at most {gateway.AIM_MS:g} ms, and at most "
            f"{gateway.AIM_CPU_MS:g} ms of CPU",
            flush=True,
        )
    if "records" in parts:
        await ensure_lab_index()
        print("\n## Records of answers\n")
        print(table(records.COLUMNS, [each async for each in records.rows(home, questions)]))
        print(f"\n- Aim: a ratio of at most {records.AIM:g}", flush=True)


async def _costs(generator: Generator, answerer: Answerer, questions: Sequence[str]) -> None:
    found = await answers.costs(generator, answerer, questions)
    plain = median(ms for each in found for ms in each.compared.baseline_ms)
    print(f"Plain generation: {plain:.1f} ms a text (median)\n")
    print(table(answers.COLUMNS, [each.cells() for each in found]), flush=True)


async def _overheads(
    name: str,
    generator: Generator,
    answerer: Answerer,
    questions: Sequence[str],
    *,
    rounds: int,
    aim: float | None = None,
) -> None:
    goal = "" if aim is None else f" (aim: at most {aim:g}x)"
    print()
    for policy in answers.NEVER_TRIGGERS:
        found = await answers.overhead(generator, answerer, questions, policy, rounds=rounds)
        print(
            f"- An answer that triggers nothing, {policy.name}, {name}: {found.ratio:.3f}x plain "
            f"generation{goal}, {median(found.other_ms):.1f} ms against "
            f"{median(found.baseline_ms):.1f} ms",
            flush=True,
        )


async def _attention(generator: Generator, questions: Sequence[str]) -> None:
    print("\n## Attention with every token (prompts that were read before)")
    for name, opened in (("embedded", open_generator()), ("over gRPC", nullcontext(generator))):
        async with opened as each:
            rows = await attention_cost.rows(each, questions, rounds=8)
        print(f"\n{name}\n\n{table(attention_cost.COLUMNS, rows)}", flush=True)


async def _memory(services: Measured, questions: Sequence[str], total: int) -> None:
    print(f"\n## Memory over {total} answers, {memory.CONCURRENCY} concurrent (MB)\n")
    rows = await memory.growth(
        services.servers, services.answerer, questions, answers=total, warm_up=max(1, total // 10)
    )
    print(table(memory.COLUMNS, rows), flush=True)


async def _equal(answerer: Answerer, questions: Sequence[str], *, rounds: int) -> None:
    # The same events come embedded and unpaced, so the thetas are found there.
    async with open_answerer() as embedded:
        policies = await matched.at_equal_retrievals(embedded, questions)
    found = await matched.ask_by_turns(answerer, questions, policies, rounds=rounds)
    print(
        f"\n## Policies at a matched retrieval budget, {PACE_MS} ms per token, over gRPC\n\n"
        f"{len(questions)} questions in {rounds} rounds, the policies in turn, each at the theta "
        f"that comes nearest to {matched.RETRIEVALS:.2f} retrievals\na question. Means a question, "
        "of the rounds their median; spread is from the least ratio of a round to the greatest.\n"
    )
    flare = found["flare"]
    print(table(matched.COLUMNS, [each.cells(flare) for each in found.values()]))
    print(
        "\nGenerated and prompt are tokens; generation, scoring and retrieval the ms for which the "
        "model, the scorer\nand the retriever were waited for.\n"
    )
    for other, aim in matched.AIMS.items():
        ratios = found["scaar"].over(found[other])
        print(
            f"- scaar over {other}: {median(ratios):.3f}x, {ratios[0]:.3f} to {ratios[-1]:.3f} "
            f"(aim: {aim})",
            flush=True,
        )


async def _overload(answerer: Answerer, generator_is: str, window_s: int) -> None:
    found = await overload.compare(answerer, _questions(100), window_s=window_s)
    print(f"\n## Overload, a generator of {generator_is}, over gRPC\n")
    print(table(overload.COLUMNS, found.rows()))
    print(
        f"\n- Goodput under {overload.OVERLOAD} times overload over the best, alternately in "
        f"{overload.ROUNDS} rounds: {found.ratio:.2f} (aim: at least {overload.AIM:g})\n"
        f"- Answers refused after their first model call: {found.refused_late} (aim: 0)",
        flush=True,
    )


@asynccontextmanager
async def _services(home: Path, **environment: str) -> AsyncIterator[Measured]:
    async with (
        open_servers(home, **environment) as servers,
        open_generator(servers.targets["generator"]) as generator,
        open_answerer(servers.targets["orchestrator"]) as answerer,
    ):
        yield Measured(generator, answerer, servers)


def _questions(count: int) -> list[str]:
    world = build_world(LAB_SEED)
    drawn = [
        draw_questions(world, count=(count + 1) // 2, split=split) for split in ("head", "tail")
    ]
    return [each.question for pair in zip(*drawn, strict=True) for each in pair][:count]
