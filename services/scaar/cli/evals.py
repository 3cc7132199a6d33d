"""``scaar evals``: evaluations of a running evaluator."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from scaar.cli import evals_options as options
from scaar.cli.eval_table import print_table
from scaar.cli.evals_create import create
from scaar.cli.evals_watch import watch_to_end
from scaar.cli.evals_worker import worker
from scaar.cli.json_lines import print_json_lines
from scaar.cli.prediction_trace import print_predictions
from scaar.compose import open_evaluator
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import EvaluationDescription, EvaluationState, ReportForm
from scaar.core.ports import Evaluator

app = typer.Typer(
    help="Evaluations of a running evaluator: scaar serve evaluator.", no_args_is_help=True
)
app.command("create")(create)
app.command("worker")(worker)

Id = Annotated[str, typer.Argument(metavar="ID", help="The evaluation.")]
_Value = TypeVar("_Value")


@app.command("watch")
def watch(evaluation_id: Id, target: options.Target = options.TARGET) -> None:
    """Show how an evaluation gets on, until it has ended; status 1 unless it succeeds."""
    asyncio.run(watch_to_end(evaluation_id, target))


@app.command("list")
def list_evaluations(
    state: Annotated[
        str,
        typer.Option(
            metavar="STATE,...",
            help=f"Only those that are {', '.join(EvaluationState)}.",
            show_default=False,
        ),
    ] = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="The most that are shown.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object a line.")] = False,
    target: options.Target = options.TARGET,
) -> None:
    """Show evaluations, the newest first."""
    found = asyncio.run(_listed(_states(state), limit, target))
    if as_json:
        print_json_lines(options.record_of(each) for each in found)
        return
    heading = ("id", "state", "data set", "questions", "settings", "done", "failed", "created")
    print_table([heading, *(_row(each) for each in found)])


@app.command("cancel")
def cancel(evaluation_id: Id, target: options.Target = options.TARGET) -> None:
    """End an evaluation; what was answered is kept."""
    ended = _asked(target, lambda evaluator: evaluator.cancel_evaluation(evaluation_id))
    print(f"{ended.id} is {ended.state.value}, with {ended.done} of {ended.wanted} predictions")


@app.command("report")
def report(
    evaluation_id: Id,
    form: Annotated[ReportForm, typer.Option(help="What it is written as.")] = ReportForm.MARKDOWN,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to, in place of the terminal.", show_default=False
        ),
    ] = None,
    target: options.Target = options.TARGET,
) -> None:
    """Show what an evaluation that has succeeded came to."""
    content = _asked(target, lambda evaluator: evaluator.report(evaluation_id, form))
    if out is None:
        sys.stdout.write(content)
        return
    from scaar.evaluator.store.files import write_whole

    write_whole(out, content.encode())
    print(out)


@app.command("show")
def show(
    evaluation_id: Id,
    question: Annotated[str, typer.Option(metavar="ID", help="The question's id.")],
    setting: Annotated[
        str,
        typer.Option(metavar="LABEL", help="One setting; all if not given.", show_default=False),
    ] = "",
    target: options.Target = options.TARGET,
) -> None:
    """Show every decision about one question so far: words, query, passages, before and after."""
    page = _asked(
        target,
        lambda evaluator: evaluator.list_predictions(
            evaluation_id, setting=setting, question_id=question, detailed=True, page_size=1_000
        ),
    )
    console = Console(highlight=False)
    print_predictions(console, page.predictions)
    if not page.predictions:
        console.print("not asked yet")


def _asked(target: str, ask: Callable[[Evaluator], Awaitable[_Value]]) -> _Value:
    async def asked() -> _Value:
        async with open_evaluator(target) as evaluator:
            return await ask(evaluator)

    return asyncio.run(asked())


async def _listed(
    states: tuple[EvaluationState, ...], limit: int, target: str
) -> list[EvaluationDescription]:
    found: list[EvaluationDescription] = []
    async with open_evaluator(target) as evaluator:
        token = ""
        while len(found) < limit:
            page = await evaluator.list_evaluations(
                states=states, page_size=min(100, limit - len(found)), page_token=token
            )
            found += page.evaluations
            token = page.next_page_token
            if not token:
                break
    return found


def _states(text: str) -> tuple[EvaluationState, ...]:
    names = [each.strip() for each in text.split(",")] if text else []
    for name in names:
        if name not in list(EvaluationState):
            known = ", ".join(EvaluationState)
            raise InvalidRequest.of("--state", f"there is no state {name!r}; known: {known}")
    return tuple(EvaluationState(name) for name in names)


def _row(evaluation: EvaluationDescription) -> tuple[str, ...]:
    counts = (evaluation.questions, len(evaluation.settings))
    done = f"{evaluation.done} of {evaluation.wanted}"
    return (
        evaluation.id,
        evaluation.state.value,
        evaluation.dataset,
        *map(str, counts),
        done,
        str(evaluation.failed),
        evaluation.created,
    )
