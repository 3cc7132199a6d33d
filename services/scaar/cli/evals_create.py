"""``scaar evals create``: an evaluation queued, of a data set by name or of questions of a file."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli import eval_options, evals_options
from scaar.cli.evals_watch import watch_to_end
from scaar.compose import open_evaluator
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import (
    DEFAULT_TENANT,
    EvaluationQuestion,
    EvaluationRequest,
    no_questions,
)
from scaar.evaluator.planning.settings import plan_settings


def create(
    dataset: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="A data set that the evaluator has: lab.", show_default=False
        ),
    ] = "",
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Questions that are sent, a JSON object a line: id, question, answers.",
            show_default=False,
        ),
    ] = None,
    policies: eval_options.Policies = "",
    theta: eval_options.Theta = None,
    alpha: eval_options.Alpha = None,
    top_k: eval_options.TopK = None,
    settings: eval_options.Set = None,
    limit: eval_options.Limit = None,
    seed: eval_options.Seed = None,
    index: eval_options.Index = None,
    timeout: eval_options.Timeout = eval_options.TIMEOUT_S,
    request_id: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="Asked again with it, it is the same one.", show_default=False
        ),
    ] = "",
    tenant: Annotated[str, typer.Option(metavar="NAME", help="For whom it is.")] = DEFAULT_TENANT,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show how it gets on, until it has ended.")
    ] = False,
    target: evals_options.Target = evals_options.TARGET,
) -> None:
    """Queue an evaluation, and print its id."""
    if bool(dataset) is (questions is not None):
        raise InvalidRequest.of("--dataset", "or --questions must be given, and not both")
    values = eval_options.values_of(theta, alpha, top_k, settings or [])
    planned = plan_settings(eval_options.policy_names(policies), values)
    request = EvaluationRequest(
        policies=tuple(each.policy for each in planned),
        dataset=dataset,
        limit=limit,
        seed=seed,
        index=index,
        timeout_s=timeout,
        # One of its own, so that a call that is tried again is of one evaluation.
        request_id=request_id or uuid.uuid4().hex,
        tenant=tenant,
    )
    sent = no_questions() if questions is None else _questions_in(questions)
    asyncio.run(_create(request, sent, target, watch=watch))


async def _create(
    request: EvaluationRequest,
    questions: AsyncIterator[EvaluationQuestion],
    target: str,
    *,
    watch: bool,
) -> None:
    async with open_evaluator(target) as evaluator:
        created = await evaluator.create_evaluation(request, questions)
    print(created.id, flush=True)
    if watch:
        await watch_to_end(created.id, target)


async def _questions_in(path: Path) -> AsyncIterator[EvaluationQuestion]:
    # What reads data sets is loaded where there is a file of one.
    from scaar.evaluator.datasets.plain import sent_question
    from scaar.evaluator.datasets.reading import records_of

    for record in records_of(path):
        yield sent_question(record)
