"""``scaar lab evaluate``: the policies on the lab's questions, as a Markdown table.

Means stand with their 95% intervals; the questions about one film are one observation.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from scaar.cli.overrides import parse_overrides
from scaar.compose import LAB_SEED, build_loop, ensure_lab_index, lab_index_name, open_ports
from scaar.core.errors import InvalidRequest
from scaar.core.measures.exact_match import exact_match
from scaar.core.measures.f1 import f1
from scaar.core.measures.interval import interval
from scaar.core.policies import PRESETS
from scaar.core.policies.effective import check_policy
from scaar.core.ports import Answerer
from scaar.core.types import Answer, AnswerFinished, AnswerRequest, PolicyRequest
from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import build_world
from scaar.orchestrator.settings import OrchestratorSettings

SPLITS = ("head", "tail")
COLUMNS = (
    *("policy", "theta", "split", "questions", "EM [95%]", "F1 [95%]", "retrievals [95%]"),
    *("model calls", "tokens", "ms"),
)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and what came of it."""

    question: Question
    answer: Answer


def evaluate(
    seed: Annotated[
        int, typer.Option(help="The world; 2000 and above are for reports.")
    ] = LAB_SEED,
    count: Annotated[int, typer.Option(help="Questions, half of them head, half tail.")] = 500,
    policies: Annotated[
        list[str] | None,
        typer.Option("--policy", help="A policy; all of them where none is named."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of every policy named."),
    ] = None,
) -> None:
    """Ask the lab's questions under each policy; exact match, F1 and retrievals a question."""
    if count < len(SPLITS):
        raise InvalidRequest.of("--count", f"must be at least {len(SPLITS)}, not {count}")
    world = build_world(seed)
    questions = [
        question
        for split in SPLITS
        for question in draw_questions(world, count=count // len(SPLITS), split=split)
    ]
    overrides = parse_overrides(settings or [])
    requests = [PolicyRequest(name, overrides) for name in policies or PRESETS]
    if wrong := [violation for request in requests for violation in check_policy(request)]:
        raise InvalidRequest(wrong)
    asyncio.run(_evaluate(seed, questions, requests))


async def _evaluate(
    seed: int, questions: Sequence[Question], policies: Sequence[PolicyRequest]
) -> None:
    index = lab_index_name(seed)
    console = Console(stderr=True)
    print(f"| {' | '.join(COLUMNS)} |\n{'| --- ' * len(COLUMNS)}|")
    settings = OrchestratorSettings.read()
    async with open_ports(settings) as ports:
        await ensure_lab_index(ports.retriever, seed)
        loop = build_loop(ports, settings)
        with Progress(console=console, transient=True) as progress:
            for policy in policies:
                task = progress.add_task(policy.name, total=len(questions))
                answered = []
                for question in questions:
                    answer = await _answer(loop, question, policy, index)
                    answered.append(Answered(question, answer))
                    progress.advance(task)
                for row in _rows(answered):
                    print(row, flush=True)


async def _answer(
    answerer: Answerer, question: Question, policy: PolicyRequest, index: str
) -> Answer:
    async for event in answerer.stream_answer(
        AnswerRequest(question.question, policy, index=index)
    ):
        if isinstance(event, AnswerFinished):
            return event.answer
    raise AssertionError("an answerer ends with AnswerFinished or raises")


def _rows(answered: Sequence[Answered]) -> Iterator[str]:
    for split in (*SPLITS, "all"):
        mine = [each for each in answered if split in (each.question.split, "all")]
        policy = mine[0].answer.provenance.policy
        films = [each.question.supports[0] for each in mine]
        usages = [each.answer.usage for each in mine]
        scores = [(each.answer.answer, each.question.answers) for each in mine]
        cells = (
            policy.name,
            f"{policy.theta:g}" if policy.theta else "-",
            split,
            str(len(mine)),
            _mean([exact_match(*score) for score in scores], films, ".3f"),
            _mean([f1(*score) for score in scores], films, ".3f"),
            _mean([usage.retrievals for usage in usages], films, ".2f"),
            f"{fmean(usage.llm_calls for usage in usages):.2f}",
            f"{fmean(usage.generated_tokens for usage in usages):.0f}",
            f"{fmean(usage.latency_ms for usage in usages):.0f}",
        )
        yield f"| {' | '.join(cells)} |"


def _mean(values: Sequence[float], films: Sequence[str], decimals: str) -> str:
    low, high = interval(values, films)
    return f"{fmean(values):{decimals}} [{low:{decimals}}, {high:{decimals}}]"
