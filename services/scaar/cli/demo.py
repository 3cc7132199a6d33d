"""``scaar demo``: the main job on the lab's world, then the same question without retrieval."""

import asyncio
import re
from typing import Annotated

import typer
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.rule import Rule

from scaar.cli.ask import answer_with_trace
from scaar.compose import LAB_SEED, build_loop, ensure_lab_index, open_ports
from scaar.core.types import Answer, AnswerRequest, PolicyRequest
from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import build_world
from scaar.orchestrator.settings import OrchestratorSettings

# The picture uses the fonts of whoever looks at it; rich's own format fetches one.
_SVG_FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
DEMO_QUESTION = 0
"""Which of the tail questions is asked: one of two hops that the model gets wrong alone."""


def demo(
    svg: Annotated[
        str, typer.Option(help="Also write what is shown into this SVG file.", hidden=True)
    ] = "",
) -> None:
    """Ask a question that the lab's model cannot answer alone, with and without retrieval."""
    console = Console(highlight=False, record=bool(svg), width=100 if svg else None)
    asyncio.run(_demo(console))
    if svg:
        console.save_svg(svg, title="scaar demo", code_format=_SVG_FORMAT)


async def _demo(console: Console) -> None:
    question = demo_question()
    console.print(
        "A small language model knows 800 films of a closed world by heart, more or less. "
        "This question is about a film it has never seen:"
    )
    console.print(f"\n  [bold]{question.question}[/]\n")
    settings = OrchestratorSettings.read()
    async with open_ports(settings) as ports:
        with console.status("indexing the lab's passages"):
            index = await ensure_lab_index(ports.retriever)
        console.print(
            f"Index [bold]{index.name}[/]: {index.passages:,} passages to look it up in.\n"
        )
        answerer = build_loop(ports, settings)
        answers: list[Answer] = []
        for policy, title in (
            ("scaar", "with adaptive retrieval"),
            ("no_retrieval", "the same model, without retrieval"),
        ):
            console.print(Rule(title, align="left"))
            request = AnswerRequest(question.question, PolicyRequest(policy))
            answers.append(await answer_with_trace(answerer, request, console))
            console.print()
    console.print(Rule("the difference", align="left"))
    for answer, said in zip(answers, ("with retrieval", "without"), strict=True):
        verdict = "[green]✓ right[/]" if answer.answer in question.answers else "[red]✗ wrong[/]"
        console.print(f"{said:>16}  [bold]{answer.answer}[/]  {verdict}")
    console.print(f"{'true answer':>16}  {question.answers[0]}")
    console.print(
        f'\nNow you: [bold]scaar ask "{question.question}" --json[/], '
        "[bold]scaar lab questions --seed 2000 --count 5[/], [bold]scaar up[/]."
    )


def demo_question() -> Question:
    """The question of the demonstration, about a tail film of the lab's default world."""
    count = DEMO_QUESTION + 1
    return draw_questions(build_world(LAB_SEED), count=count, split="tail")[DEMO_QUESTION]
