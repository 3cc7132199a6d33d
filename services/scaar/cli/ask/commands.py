"""``scaar ask``: answer a question and print every decision as it is made."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli.addresses import OrchestratorAddress
from scaar.cli.ask.event_json import event_line
from scaar.cli.ask.file import ask_file
from scaar.cli.ask.filters import Filters, parse_filters
from scaar.cli.ask.overrides import SETTING_HELP, choice_help, parse_overrides
from scaar.cli.ask.trace import TracePrinter
from scaar.cli.completion import complete_index, complete_policy, complete_setting
from scaar.cli.unknown_variables import warn_of_unknown_variables
from scaar.compose import EMBEDDED, open_answerer
from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.ports import Answerer
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    BudgetLimits,
    OnFailure,
    PolicyRequest,
)
from scaar.core.validation import validate


def ask(
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="Question to answer.", show_default=False),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"Retrieval policy: {', '.join(PRESETS.built_in)}, or of an installed package.",
            autocompletion=complete_policy,
        ),
    ] = "scaar",
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=choice_help("trigger"),
            show_default=False,
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=choice_help("query"),
            show_default=False,
        ),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=choice_help("gate"),
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help=SETTING_HELP,
            show_default=False,
            autocompletion=complete_setting,
        ),
    ] = None,
    index: Annotated[
        str,
        typer.Option(metavar="NAME", help="Index to retrieve from.", autocompletion=complete_index),
    ] = "lab",
    filters: Filters = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print events as JSON lines; the last has the answer and its usage."
        ),
    ] = False,
    target: OrchestratorAddress = EMBEDDED,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit for an answer, in seconds.")
    ] = BudgetLimits().timeout_s,
    on_failure: Annotated[
        OnFailure,
        typer.Option(
            help="When the scorer, query builder or retriever fails: fail returns its error, "
            "accept_draft keeps the draft and marks the sentence as degraded.",
        ),
    ] = OnFailure.FAIL,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='File of questions as JSON lines {"id", "question"}, instead of QUESTION; '
            "requires --out.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the answers of --file, as JSON lines. Questions that it already "
            "answers are skipped.",
            show_default=False,
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask questions that failed in --out again.")
    ] = False,
    concurrency: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=64, help="Number of questions of --file asked concurrently."
        ),
    ] = 4,
) -> None:
    """Answer a question, or a file of questions."""
    warn_of_unknown_variables()
    request = AnswerRequest(
        question=question or "",
        policy=PolicyRequest(
            policy, parse_overrides(settings or [], trigger=trigger, query=query, gate=gate)
        ),
        index=index,
        budget=BudgetLimits(timeout_s=timeout),
        on_failure=on_failure,
        filters=parse_filters(filters or ()),
    )
    if file is not None:
        if question is not None or as_json or out is None:
            problem = (
                "requires --out" if out is None else "cannot be combined with QUESTION or --json"
            )
            raise InvalidRequest.of("--file", problem)
        # Report an invalid option as such, and not as an error of the first line.
        validate(replace(request, question="?"), remote=target != EMBEDDED)
        failed = ask_file(
            request,
            file,
            out,
            concurrency=concurrency,
            target=target,
            retry_failed=retry_failed,
        )
        if failed:
            raise typer.Exit(1)
        return
    if question is None:
        raise InvalidRequest.of("question", "is missing; give a question, or --file")
    if out is not None:
        raise InvalidRequest.of("--out", "requires --file")
    if retry_failed:
        raise InvalidRequest.of("--retry-failed", "requires --file")
    # Report an invalid request before anything is loaded.
    validate(request, remote=target != EMBEDDED)
    asyncio.run(_ask(request, target, as_json))


async def _ask(request: AnswerRequest, target: str, as_json: bool) -> None:
    async with open_answerer(target) as answerer:
        if as_json:
            async with aclosing(answerer.stream_answer(request)) as events:
                async for event in events:
                    print(event_line(event), flush=True)
        else:
            await answer_with_trace(answerer, request, Console(highlight=False))


async def answer_with_trace(answerer: Answerer, request: AnswerRequest, console: Console) -> Answer:
    """Ask the question, print the live trace, and return the answer."""
    trace = TracePrinter(console)
    answer: Answer | None = None
    async with aclosing(answerer.stream_answer(request)) as events:
        async for event in events:
            trace.show(event)
            if isinstance(event, AnswerFinished):
                answer = event.answer
    assert answer is not None, "an answerer ends with AnswerFinished or raises"
    return answer
