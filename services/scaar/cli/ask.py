"""``scaar ask``: a question answered, every decision told as it is made."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli.ask_file import ask_file
from scaar.cli.event_json import event_line
from scaar.cli.filters import Filters, parse_filters
from scaar.cli.overrides import parse_overrides
from scaar.cli.trace import TracePrinter
from scaar.compose import EMBEDDED, open_answerer
from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.ports import Answerer
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    BudgetLimits,
    Formulation,
    Gate,
    OnFailure,
    PolicyRequest,
    Trigger,
)
from scaar.core.validation import validate


def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question.", show_default=False)
    ] = None,
    policy: Annotated[
        str, typer.Option(help=f"When to retrieve and what to ask: {', '.join(PRESETS)}.")
    ] = "scaar",
    when: Annotated[
        Trigger | None,
        typer.Option(help="When to retrieve, in place of the policy's own trigger."),
    ] = None,
    ask_with: Annotated[
        Formulation | None,
        typer.Option("--ask", help="What to ask, in place of the policy's own query."),
    ] = None,
    gate: Annotated[
        Gate | None,
        typer.Option(help="What judges whether the question may be retrieved for at all."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the policy, such as theta=0.2."
        ),
    ] = None,
    index: Annotated[str, typer.Option(help="The index to retrieve from.")] = "lab",
    filters: Filters = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One event a line, the last with answer and bill.")
    ] = False,
    target: Annotated[
        str, typer.Option(help="A running orchestrator (dns:///host:port), or embedded.")
    ] = EMBEDDED,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="The longest that an answer may take.")
    ] = BudgetLimits().timeout_s,
    on_failure: Annotated[
        OnFailure,
        typer.Option(help="When scorer or retriever fails: fail, or accept the draft and say so."),
    ] = OnFailure.FAIL,
    file: Annotated[
        Path | None,
        typer.Option(
            help='Questions as JSON lines {"id", "question"}, in place of QUESTION; needs --out.',
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where their answers go, a line each; those that are there are not asked again.",
            show_default=False,
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask the file's failed questions again.")
    ] = False,
    concurrency: Annotated[
        int, typer.Option(min=1, max=64, help="How many of the file's questions at a time.")
    ] = 4,
) -> None:
    """Answer a question, or a file of them, with adaptive retrieval."""
    request = AnswerRequest(
        question=question or "",
        policy=PolicyRequest(
            policy, parse_overrides(settings or [], trigger=when, query=ask_with, gate=gate)
        ),
        index=index,
        budget=BudgetLimits(timeout_s=timeout),
        on_failure=on_failure,
        filters=parse_filters(filters or ()),
    )
    if file is not None:
        if question is not None or as_json or out is None:
            told = "needs --out" if out is None else "goes without QUESTION and without --json"
            raise InvalidRequest.of("--file", told)
        # A mistake of the command line is not one of a line.
        validate(replace(request, question="?"))
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
        raise InvalidRequest.of("question", "is missing; give it, or --file")
    if out is not None:
        raise InvalidRequest.of("--out", "goes with --file")
    if retry_failed:
        raise InvalidRequest.of("--retry-failed", "goes with --file")
    # A mistake is told before anything is loaded.
    validate(request)
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
    """Asks, prints the live trace, and gives back the answer."""
    trace = TracePrinter(console)
    answer: Answer | None = None
    async with aclosing(answerer.stream_answer(request)) as events:
        async for event in events:
            trace.show(event)
            if isinstance(event, AnswerFinished):
                answer = event.answer
    assert answer is not None, "an answerer ends with AnswerFinished or raises"
    return answer
