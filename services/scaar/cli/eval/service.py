"""``scaar eval`` on a running evaluator: create, list, watch and cancel evaluations."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Annotated, TypeVar

import typer

from scaar.cli.addresses import RUNNING, EvaluatorTarget
from scaar.cli.eval.options import Detach, RetryFailed
from scaar.cli.eval.watch import watch_to_end
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Table, TableFormat, Value, print_table
from scaar.compose import FOLDER, open_evaluator
from scaar.core.distributions import lab_is_installed
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
)
from scaar.core.ports import Evaluator
from scaar.core.types import AnswerStarted
from scaar.evaluator.datasets.lab import advice_on_freedom
from scaar.evaluator.records import Question

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the evaluation.")]
_Value = TypeVar("_Value")


def evaluate_at(
    target: str,
    request: EvaluationRequest,
    questions: Sequence[Question],
    *,
    detach: bool,
    output: TableFormat | None,
) -> None:
    """Create an evaluation, and watch it to its end unless ``detach`` is set.

    Raises:
        ScaarError: the evaluation cannot be created.
        Exit: the evaluation did not succeed; the status is 1.
    """
    _require_service(target, detach)

    async def evaluate() -> None:
        async with open_evaluator(target, run=True) as evaluator:
            try:
                created = await evaluator.create_evaluation(request, _sent(questions))
            except asyncio.CancelledError:
                print_notes(
                    f"the evaluation may have been created: find it with scaar eval list --target "
                    f"{target}, or run the same command with --request-id {request.request_id}"
                )
                raise
            if detach:
                print(created.id)
                return
            print_notes(f"evaluation {created.id}")
            try:
                await watch_to_end(evaluator, created.id, output)
            except asyncio.CancelledError:
                continues = "continue it" if target.startswith(FOLDER) else "it continues"
                print_notes(f"{continues}: scaar eval watch {created.id} --target {target}")
                raise
            if request.freedom is not None:
                await _advise_on_freedom(evaluator, created.id)

    asyncio.run(evaluate())


async def _advise_on_freedom(evaluator: Evaluator, evaluation_id: str) -> None:
    """Print a note if the model that answered does not write free words."""
    if not lab_is_installed():
        return
    page = await evaluator.list_predictions(evaluation_id, detailed=True, page_size=1)
    models = [
        event.provenance.model
        for each in page.predictions
        for event in each.events
        if isinstance(event, AnswerStarted)
    ]
    if models and (advice := advice_on_freedom(models)):
        print_notes(advice)


def _require_service(target: str, detach: bool) -> None:
    if detach and target.startswith(FOLDER):
        text = f"cannot be combined with --target {target}, whose evaluations run in this process"
        raise InvalidRequest.of("--detach", text)


def watch(evaluation_id: Id, output: Format = None, target: EvaluatorTarget = RUNNING) -> None:
    """Show the progress of a hosted evaluation until it ends.

    An evaluation of embedded:DIR runs, or continues, meanwhile. The exit status is 1 unless the
    evaluation succeeds.
    """

    async def run() -> None:
        async with open_evaluator(target, run=True) as evaluator:
            await watch_to_end(evaluator, evaluation_id, output)

    asyncio.run(run())


def resume(
    evaluation_id: Id,
    retry_failed: RetryFailed = False,
    detach: Detach = False,
    output: Format = None,
    target: EvaluatorTarget = RUNNING,
) -> None:
    """Continue a failed or cancelled evaluation to its end.

    Stored predictions are kept. The exit status is 1 unless the evaluation succeeds.
    """
    _require_service(target, detach)

    async def run() -> None:
        async with open_evaluator(target, run=True) as evaluator:
            await evaluator.resume_evaluation(evaluation_id, retry_failed=retry_failed)
            if not detach:
                await watch_to_end(evaluator, evaluation_id, output)

    asyncio.run(run())


def list_evaluations(
    state: Annotated[
        str,
        typer.Option(
            metavar="STATE,...",
            help=f"Show only evaluations in these states: {', '.join(EvaluationState)}. "
            "Default: all.",
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum number of evaluations.")
    ] = 50,
    output: Format = None,
    target: EvaluatorTarget = RUNNING,
) -> None:
    """List hosted evaluations, newest first."""
    states = _states(state)
    found = call_evaluator(target, lambda evaluator: _pages(evaluator, states, limit))
    columns = (
        *(Column(name, right=False) for name in ("id", "state", "data_set")),
        *(Column(name) for name in ("questions", "settings", "done", "failed", "created")),
    )
    table = Table(columns, [_row(each) for each in found], [asdict(each) for each in found])
    print_table(table, output)


def cancel(evaluation_id: Id, target: EvaluatorTarget = RUNNING) -> None:
    """Cancel a hosted evaluation, and keep its predictions."""
    ended = call_evaluator(target, lambda evaluator: evaluator.cancel_evaluation(evaluation_id))
    print(f"{ended.id} is {ended.state.value}, with {ended.done} of {ended.total} predictions")


def call_evaluator(target: str, call: Callable[[Evaluator], Awaitable[_Value]]) -> _Value:
    """Return the result of a call of the evaluator at a target."""

    async def run() -> _Value:
        async with open_evaluator(target) as evaluator:
            return await call(evaluator)

    return asyncio.run(run())


async def _sent(questions: Sequence[Question]) -> AsyncIterator[EvaluationQuestion]:
    from scaar.evaluator.prediction_view import describe_question

    for each in questions:
        yield describe_question(each)


async def _pages(
    evaluator: Evaluator, states: tuple[EvaluationState, ...], limit: int
) -> list[EvaluationDescription]:
    found: list[EvaluationDescription] = []
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


def _row(evaluation: EvaluationDescription) -> tuple[Value, ...]:
    done = f"{evaluation.done} of {evaluation.total}"
    return (
        evaluation.id,
        evaluation.state.value,
        evaluation.dataset,
        evaluation.questions,
        len(evaluation.settings),
        done,
        evaluation.failed,
        evaluation.created,
    )
