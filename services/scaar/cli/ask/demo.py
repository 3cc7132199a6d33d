"""``scaar demo``: answer a question about the lab's world with and without retrieval."""

import asyncio
import re
from typing import TYPE_CHECKING, Annotated

import typer
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.rule import Rule

from scaar.cli.ask.commands import answer_with_trace
from scaar.compose import LAB_SEED, build_loop, ensure_lab_index, open_files, open_ports
from scaar.core.distributions import lab_required
from scaar.core.plurals import counted
from scaar.core.types import Answer, AnswerRequest, PolicyRequest
from scaar.orchestrator.settings import OrchestratorSettings

if TYPE_CHECKING:
    from scaar.lab.questions import Question

# The picture uses the reader's fonts; rich's own format downloads one.
_SVG_FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
DEMO_QUESTION = 0
"""Position of the demo's question: two hops, and the model alone answers it wrong."""


def demo(
    svg: Annotated[
        str, typer.Option(help="Also write the output to this SVG file.", hidden=True)
    ] = "",
) -> None:
    """Answer a lab question with and without retrieval.

    The question is about a film that the lab's model has never seen. A published policy answers
    it, a policy tuned on the model, and the model alone.
    """
    console = Console(highlight=False, record=bool(svg), width=100 if svg else None)
    asyncio.run(_demo(console))
    if svg:
        console.save_svg(svg, title="scaar demo", code_format=_SVG_FORMAT)


async def _demo(console: Console) -> None:
    question = demo_question()
    console.print(
        "The lab's small language model has learned 800 films of a fictional world. "
        "This question is about a film that it has never seen:"
    )
    console.print(f"\n  [bold]{question.question}[/]\n")
    settings = OrchestratorSettings.read()
    files = open_files(settings)
    async with open_ports(settings) as ports:
        with console.status("indexing the lab's passages"):
            index = await ensure_lab_index()
        console.print(f"Index [bold]{index.name}[/]: {counted(index.passages, 'passage')}.\n")
        answerer, tuned = build_loop(ports, settings, files=files), files.policies
        policies = {
            "scaar": "with adaptive retrieval",
            **dict.fromkeys(tuned, "with a policy tuned on this model"),
            "no_retrieval": "the same model, without retrieval",
        }
        answers: dict[str, Answer] = {}
        for policy, title in policies.items():
            console.print(Rule(f"{title}: {policy}", align="left"))
            request = AnswerRequest(question.question, tuned.resolve(PolicyRequest(policy)))
            answers[policy] = await answer_with_trace(answerer, request, console)
            console.print()
    console.print(Rule("the difference", align="left"))
    for policy, answer in answers.items():
        verdict = "[green]✓ correct[/]" if answer.answer in question.answers else "[red]✗ wrong[/]"
        searches = f"searches: {answer.usage.searches}"
        console.print(f"{policy:>18}  [bold]{answer.answer}[/]  {verdict}  [dim]{searches}[/]")
    console.print(f"{'correct answer':>18}  {question.answers[0]}")
    console.print(
        f'\nNext: [bold]scaar ask "{question.question}" --json[/], '
        "[bold]scaar lab questions --seed 2000 --count 5[/], [bold]scaar up[/]."
    )


def demo_question() -> "Question":
    """Return the question of the demo, about a tail film of the lab's default world."""
    with lab_required("scaar demo"):
        from scaar.lab.questions import draw_questions
        from scaar.lab.world import build_world
    count = DEMO_QUESTION + 1
    return draw_questions(build_world(LAB_SEED), count=count, split="tail")[DEMO_QUESTION]
