"""``make bench-peers``: scaar and a plain ``generate`` of transformers on the same questions.

Every system answers the same questions with the lab's model, one at a time and several
concurrently. CPU seconds are those of all processes of the system.
"""

import argparse
import asyncio
import os
import platform
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.answers import answered
from bench.servers import Servers, open_servers
from bench.tables import table
from scaar.compose import LAB_SEED, ensure_lab_index, open_answerer
from scaar.core.ports import Answerer
from scaar.core.prompts import profile_of
from scaar.core.types import AnswerRequest, PolicyRequest
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world

POLICIES = ("flare", "dragin")
CONCURRENCY = 8
COLUMNS = (
    "system",
    "concurrent",
    "questions/s",
    "CPU s/question",
    "model calls",
    "tokens",
    "tokens/CPU s",
)
_MAX_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Work:
    """What a system did for a question."""

    calls: int
    tokens: int


_Ask = Callable[[str], Awaitable[Work]]


async def report(count: int, rounds: int) -> None:
    """Print the table, a row for each system and concurrency."""
    questions = _questions(count)
    await ensure_lab_index()
    lines = []
    for attention in ("sdpa", "eager"):
        ask = _plain(attention)
        name = f"plain generate, {attention}"
        lines.append(await _measured(name, ask, questions, 1, rounds, _own_cpu_s))
    for name, settings in _embedded():
        with _environment(settings):
            async with open_answerer() as answerer:
                for policy in POLICIES:
                    if policy == "dragin" and "sdpa" in name:
                        continue
                    ask = partial(_answer, answerer, policy)
                    for concurrent in (1, CONCURRENCY):
                        lines.append(
                            await _measured(
                                f"{name}, {policy}", ask, questions, concurrent, rounds, _own_cpu_s
                            )
                        )
    async with _served() as (answerer, servers):
        for policy in POLICIES:
            ask = partial(_answer, answerer, policy)
            for concurrent in (1, CONCURRENCY):
                lines.append(
                    await _measured(
                        f"onnx over gRPC, {policy}",
                        ask,
                        questions,
                        concurrent,
                        rounds,
                        lambda: _own_cpu_s() + servers.cpu_s(),
                    )
                )
    print(table(COLUMNS, lines))


def _embedded() -> Sequence[tuple[str, dict[str, str]]]:
    checkpoint = {"SCAAR_GENERATOR_MODEL": str(model_folder(LAB_LM))}
    transformers = {**checkpoint, "SCAAR_GENERATOR_ENGINE": "transformers"}
    without = {**transformers, "SCAAR_GENERATOR_ATTENTION": "false"}
    return (
        ("onnx", checkpoint),
        ("onnx in batches", {**checkpoint, "SCAAR_GENERATOR_MAX_BATCH": str(CONCURRENCY)}),
        ("transformers, sdpa", without),
        ("transformers, eager", transformers),
        (
            "transformers in batches, eager",
            {**transformers, "SCAAR_GENERATOR_MAX_BATCH": str(CONCURRENCY)},
        ),
    )


@asynccontextmanager
async def _served() -> AsyncIterator[tuple[Answerer, Servers]]:
    async with (
        open_servers(Path(os.environ["SCAAR_HOME"])) as servers,
        open_answerer(servers.targets["orchestrator"]) as answerer,
    ):
        yield answerer, servers


async def _measured(
    name: str,
    ask: _Ask,
    questions: Sequence[str],
    concurrent: int,
    rounds: int,
    cpu_s: Callable[[], float],
) -> tuple[str, ...]:
    """Return the row of the fastest round by CPU, after a round that is not measured."""
    found = []
    for _ in range(rounds + 1):
        cpu, began = cpu_s(), time.perf_counter()
        done = await _answer_all(ask, questions, concurrent)
        found.append((cpu_s() - cpu, time.perf_counter() - began, done))
    cpu, took, done = min(found[1:], key=lambda each: each[0])
    tokens = sum(each.tokens for each in done)
    count = len(questions)
    return (
        name,
        str(concurrent),
        f"{count / took:.2f}",
        f"{cpu / count:.3f}",
        f"{sum(each.calls for each in done) / count:.2f}",
        f"{tokens / count:.1f}",
        f"{tokens / cpu:.0f}",
    )


async def _answer_all(ask: _Ask, questions: Sequence[str], concurrent: int) -> list[Work]:
    waiting, done = iter(questions), list[Work]()

    async def work() -> None:
        for question in waiting:
            done.append(await ask(question))

    await asyncio.gather(*(work() for _ in range(concurrent)))
    return done


async def _answer(answerer: Answerer, policy: str, question: str) -> Work:
    request = AnswerRequest(question, PolicyRequest(policy), omit_drafted_tokens=True)
    answer = await answered(answerer, request)
    return Work(answer.usage.llm_calls, answer.usage.generated_tokens)


def _plain(attention: str) -> _Ask:
    """Return a greedy ``generate`` of the lab's checkpoint without passages."""
    import torch
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    folder = str(model_folder(LAB_LM))
    network: Any = AutoModelForCausalLM.from_pretrained(folder, attn_implementation=attention)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    profile = profile_of("lab")

    async def ask(question: str) -> Work:
        read = tokenizer(profile.render(question), return_tensors="pt")
        with torch.inference_mode():
            written = network.generate(
                input_ids=read["input_ids"],
                attention_mask=read["attention_mask"],
                do_sample=False,
                max_new_tokens=_MAX_TOKENS,
            )
        return Work(1, written.shape[1] - read["input_ids"].shape[1])

    return ask


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _own_cpu_s() -> float:
    return time.process_time()


def _questions(count: int) -> list[str]:
    return [each.question for each in draw_questions(build_world(LAB_SEED), count=count)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-peers", description=__doc__)
    parser.add_argument("--questions", type=int, default=40, help="number of questions (40)")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds (3)")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory(prefix="scaar-bench-") as folder:
        os.environ["SCAAR_HOME"] = folder
        asyncio.run(report(arguments.questions, arguments.rounds))


if __name__ == "__main__":
    main()
