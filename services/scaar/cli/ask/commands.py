"""``scaar ask``: answer a question and print every decision as it is made."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from scaar.cli.addresses import RunningOrchestrator
from scaar.cli.ask import documents as of_documents
from scaar.cli.ask.event_json import event_line
from scaar.cli.ask.file import ask_file
from scaar.cli.ask.filters import Filters, parse_filters
from scaar.cli.ask.messages import read_messages
from scaar.cli.ask.overrides import SETTING_HELP, choice_help, parse_overrides
from scaar.cli.ask.policy_file import AllowMismatch, PolicyFile, read_policy_file
from scaar.cli.ask.trace import TracePrinter
from scaar.cli.completion import (
    complete_gate,
    complete_index,
    complete_policy,
    complete_query,
    complete_setting,
    complete_trigger,
)
from scaar.cli.documents_policy import documents_policy_settings
from scaar.cli.environment import settings_in_environment
from scaar.cli.index.folder_index import Hybrid
from scaar.cli.models import choice as of_models
from scaar.cli.running_services import choose_orchestrator
from scaar.cli.unknown_variables import warn_of_unknown_variables
from scaar.compose import EMBEDDED, open_answerer, read_policies
from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.ports import Answerer
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    OnFailure,
    PolicyArtefact,
    PolicyRequest,
    Rewrite,
)
from scaar.core.validation import check_index_name, validate
from scaar.orchestrator.settings import OrchestratorSettings


def ask(
    context: typer.Context,
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="Question to answer.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Retrieval policy: {', '.join(PRESETS.built_in)}, of an installed package, or a "
            "tuned policy of the orchestrator. Default: the orchestrator's default policy; unless "
            "it is set, scaar, and verified with --documents.",
            autocompletion=complete_policy,
        ),
    ] = None,
    policy_file: PolicyFile = None,
    allow_mismatch: AllowMismatch = False,
    trigger: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=choice_help("trigger"), autocompletion=complete_trigger),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=choice_help("query"), autocompletion=complete_query),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=choice_help("gate"), autocompletion=complete_gate),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help=SETTING_HELP, autocompletion=complete_setting
        ),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Index to retrieve from, or name of that of --documents. Default: that of the "
            "orchestrator; with --documents, the name of the folder.",
            autocompletion=complete_index,
        ),
    ] = None,
    documents: of_documents.Documents = None,
    hybrid: Hybrid = None,
    model: of_models.Model = None,
    yes: of_models.Yes = False,
    offline: of_models.Offline = False,
    filters: Filters = None,
    messages: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='JSON file of a conversation, [{"role": "user", "content": "..."}, ...], instead '
            "of QUESTION; its last message is the question. - is standard input.",
        ),
    ] = None,
    rewrite: Annotated[
        Rewrite,
        typer.Option(
            help="Question of --messages: auto lets the model rewrite a follow-up as a standalone "
            "question, never uses it as it is.",
        ),
    ] = Rewrite.AUTO,
    answer: Annotated[
        AnswerForm,
        typer.Option(
            help="Form of the answer: text is what the model writes, short ends with a conclusion "
            "that has the short answer. The lab's models always conclude.",
        ),
    ] = AnswerForm.TEXT,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print events as JSON lines; the last has the answer and its usage."
        ),
    ] = False,
    address: RunningOrchestrator = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Time limit for an answer, in seconds. Default: none for an embedded "
            "orchestrator, else that of the orchestrator at --target.",
        ),
    ] = None,
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
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the answers of --file, as JSON lines. Questions that it already "
            "answers are skipped.",
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask questions that failed in --out again.")
    ] = False,
    concurrency: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=64, help="Number of questions of --file answered concurrently."
        ),
    ] = 4,
) -> None:
    """Answer questions from an index or a folder of documents."""
    warn_of_unknown_variables()
    if messages is None and _is_given(context, "rewrite"):
        raise InvalidRequest.of("--rewrite", "requires --messages")
    has_question = question is not None or messages is not None
    _check_file_options(context, file, out, asked=has_question, as_json=as_json)
    if index is not None:
        # On the wire, an empty name is the default index.
        check_index_name(index)
    of_documents.check_options(
        address, documents=documents, hybrid=hybrid, model=model, yes=yes, offline=offline
    )
    asked = None
    if documents is not None:
        asked = of_documents.AskedDocuments(documents, index, hybrid=hybrid)
    choice = None
    if model is not None:
        choice = of_models.choose_model(model)
        context.with_resource(settings_in_environment(choice.settings))
    given = address
    artefacts = []
    if policy_file is not None:
        # The file of a tuned policy is not sent.
        given = address or EMBEDDED
        artefacts.append(read_policy_file(policy_file, target=given, policy=policy))
    request = AnswerRequest(
        question=question or "",
        policy=PolicyRequest(
            artefacts[0].name if artefacts else policy or "",
            parse_overrides(settings or [], trigger=trigger, query=query, gate=gate),
            allow_mismatch=allow_mismatch,
        ),
        index=index or "",
        budget=BudgetLimits(timeout_s=timeout),
        on_failure=on_failure,
        filters=parse_filters(filters or ()),
        messages=() if messages is None else read_messages(messages),
        rewrite=rewrite,
        answer=answer,
    )
    # Report an invalid option as such, and not as an error of the first line.
    checked = request if file is None else replace(request, question="?")
    # Report an invalid request before anything is waited for or loaded.
    validate(checked, remote=True)
    target = given or choose_orchestrator()
    if documents is not None and choice is None and target == EMBEDDED:
        choice = of_models.choose_model(None)
        context.with_resource(settings_in_environment(choice.settings))
    if documents is not None and target == EMBEDDED:
        context.with_resource(settings_in_environment(documents_policy_settings()))
    if target == EMBEDDED:
        tuned = read_policies(OrchestratorSettings.read(), artefacts)
        request = replace(request, policy=tuned.resolve(request.policy))
        validate(replace(checked, policy=request.policy), tuned=tuned)

    def prepared(request: AnswerRequest) -> AnswerRequest:
        """Have model and documents at hand for a valid request, and return it for their index."""
        if choice is not None and target == EMBEDDED:
            of_documents.check_scorer_installed(request.policy)
            choice.ensure(yes=yes, offline=offline)
        return request if asked is None else replace(request, index=asyncio.run(asked.index()))

    if file is None:
        asyncio.run(_ask(prepared(request), target, artefacts, as_json))
        return
    assert out is not None, "--file requires --out"
    failed = ask_file(
        prepared(request),
        file,
        out,
        concurrency=concurrency,
        target=target,
        artefacts=artefacts,
        retry_failed=retry_failed,
    )
    if failed:
        raise typer.Exit(1)


def _check_file_options(
    context: typer.Context, file: Path | None, out: Path | None, *, asked: bool, as_json: bool
) -> None:
    """Check that a question is given, alone or in a file. ``asked``: it is given alone.

    Raises:
        InvalidRequest: it is not, or an option of the file is given without it or lacks it.
    """
    if file is not None:
        if asked or as_json or out is None:
            others = "cannot be combined with QUESTION, --messages or --json"
            problem = "requires --out" if out is None else others
            raise InvalidRequest.of("--file", problem)
        return
    if not asked:
        text = "is missing; give a question, --messages or --file"
        raise InvalidRequest.of("question", text)
    for option in ("out", "retry_failed", "concurrency"):
        if _is_given(context, option):
            raise InvalidRequest.of(f"--{option.replace('_', '-')}", "requires --file")


def _is_given(context: typer.Context, option: str) -> bool:
    """Return whether an option is on the command line, even with its default as the value."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


async def _ask(
    request: AnswerRequest, target: str, artefacts: Sequence[PolicyArtefact], as_json: bool
) -> None:
    async with open_answerer(target, artefacts=artefacts) as answerer:
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
    with closing(trace):
        async with aclosing(answerer.stream_answer(request)) as events:
            async for event in events:
                trace.show(event)
                if isinstance(event, AnswerFinished):
                    answer = event.answer
    assert answer is not None, "an answerer ends with AnswerFinished or raises"
    return answer
