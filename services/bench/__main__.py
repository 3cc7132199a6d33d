"""``make bench``: every comparison, printed as Markdown."""

import argparse
import asyncio
import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench import answers, loop_time, memory
from bench.servers import open_servers
from scaar.compose import LAB_SEED, open_answerer, open_generator
from scaar.core.ports import Answerer, Generator
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world

PACE_MS = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--questions", type=int, default=100, help="questions a policy")
    parser.add_argument("--paced", type=int, default=10, help="questions at 10 ms a token")
    parser.add_argument("--answers", type=int, default=2000, help="answers for the memory")
    asked = parser.parse_args()
    asyncio.run(_bench(asked.questions, asked.paced, asked.answers))


async def _bench(count: int, paced: int, total: int) -> None:
    questions = _questions(count)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory(prefix="scaar-bench-") as folder:
        home = Path(folder)
        os.environ["SCAAR_HOME"] = str(home)
        async with open_generator() as generator, open_answerer() as answerer:
            print("## Embedded\n")
            _costs(await answers.costs(generator, answerer, questions))
            await _overheads("embedded", generator, answerer, questions, rounds=3)
        print("\n## Five processes over gRPC\n")
        async with (
            open_servers(home) as servers,
            open_generator(servers.targets["generator"]) as generator,
            open_answerer(servers.targets["orchestrator"]) as answerer,
        ):
            _costs(await answers.costs(generator, answerer, questions))
            await _overheads("unpaced", generator, answerer, questions, rounds=3, aim=1.5)
            print(f"\n## Memory over {total} answers, {memory.CONCURRENCY} at a time (MB)\n")
            _table(("service", "warm", "half way", "at the end", "growth"))
            for row in await memory.growth(
                servers, answerer, questions, answers=total, warm_up=total // 10
            ):
                print(row, flush=True)
        async with (
            open_servers(home, SCAAR_GENERATOR_PACE_MS=str(PACE_MS)) as servers,
            open_generator(servers.targets["generator"]) as generator,
            open_answerer(servers.targets["orchestrator"]) as answerer,
        ):
            print("\n## A generator of 10 ms a token, over gRPC\n")
            few = questions[:paced]
            await _overheads("paced", generator, answerer, few, rounds=1, aim=1.03)
    print("\n## The loop alone (microseconds a sentence of 12 words)\n")
    _table(("policy", "loop and scripted ports", "the scripted tokens alone"))
    print("\n".join(await loop_time.table()))


def _questions(count: int) -> list[str]:
    world = build_world(LAB_SEED)
    drawn = [
        draw_questions(world, count=(count + 1) // 2, split=split) for split in ("head", "tail")
    ]
    return [each.question for pair in zip(*drawn, strict=True) for each in pair][:count]


def _costs(found: Sequence[answers.PolicyCost]) -> None:
    plain = median(ms for each in found for ms in each.compared.baseline_ms)
    print(f"Plain generation: {plain:.1f} ms a text (median)\n")
    _table(answers.COLUMNS)
    for each in found:
        print(each.row(), flush=True)


async def _overheads(
    name: str,
    generator: Generator,
    answerer: Answerer,
    questions: Sequence[str],
    *,
    rounds: int,
    aim: float | None = None,
) -> None:
    told = "" if aim is None else f" (aim: at most {aim:g}x)"
    for policy in answers.NEVER_TRIGGERS:
        found = await answers.overhead(generator, answerer, questions, policy, rounds=rounds)
        print(
            f"\nAn answer that triggers nothing, {policy.name}, {name}: {found.ratio:.3f}x plain "
            f"generation{told}, {median(found.other_ms):.1f} ms against "
            f"{median(found.baseline_ms):.1f} ms",
            flush=True,
        )


def _table(columns: Sequence[str]) -> None:
    print(f"| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")


if __name__ == "__main__":
    main()
