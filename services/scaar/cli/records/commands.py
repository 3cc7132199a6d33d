"""``scaar records``: list, show, export, delete and summarize records of answers."""

import json
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Annotated, cast

import typer
from rich.console import Console

from scaar.cli.addresses import RUNNING, RecordsAddress
from scaar.cli.ask.trace import TracePrinter
from scaar.cli.notes import print_notes
from scaar.cli.output_file import new_file
from scaar.cli.records import options as of
from scaar.cli.tables import Column, Format, Table, print_table
from scaar.client import RecordsClient
from scaar.core.errors import InvalidRequest
from scaar.core.pages import MAX_PAGE_SIZE, PAGE_SIZE
from scaar.core.plurals import counted
from scaar.core.ports import Records
from scaar.core.records import (
    DAY_S,
    ExplainRecordRequest,
    RecordFilter,
    RecordGroup,
    RecordSummary,
    Verdict,
)
from scaar.core.types import PolicyOverrides, RequestKind, TokenDrafted
from scaar.wire.records import record_to_json

app = typer.Typer(help="Read and manage the records of answers.", no_args_is_help=True)


@app.command("list")
def list_(
    tenant: of.Tenant = "",
    policy: of.Policy = "",
    index: of.Index = "",
    request_id: of.RequestId = "",
    since: of.Since = "",
    until: of.Until = "",
    text: of.Text = "",
    retrieved: of.Retrieved = None,
    degraded: of.Degraded = None,
    failed: of.Failed = None,
    verdict: of.WithVerdict = None,
    tasks: of.Tasks = False,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=MAX_PAGE_SIZE, help="Maximum number of records.")
    ] = PAGE_SIZE,
    address: RecordsAddress = RUNNING,
    output: Format = None,
) -> None:
    """List records of questions, newest first."""
    chosen = RecordFilter(
        tenant=tenant,
        policy=policy,
        index=index,
        request_id=request_id,
        since=since,
        until=until,
        text=text,
        retrieved=retrieved,
        degraded=degraded,
        failed=failed,
        verdict=verdict,
        kind=RequestKind.TASK if tasks else RequestKind.QUESTION,
    )
    page = of.call_records(address, lambda records: records.list_records(chosen, page_size=limit))
    columns = (
        Column("question", right=False),
        Column("answer", right=False),
        Column("policy", right=False),
        Column("retrievals"),
        Column("created_at", "time", right=False),
        Column("id", right=False),
    )
    rows = [
        (
            each.question,
            each.answer or each.failure,
            each.policy,
            each.retrievals,
            each.created_at,
            each.id,
        )
        for each in page.records
    ]
    print_table(Table(columns, rows, [_json_of(each) for each in page.records]), output)


@app.command("show")
def show(
    id_: of.Id,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
    address: RecordsAddress = RUNNING,
) -> None:
    """Show every decision of an answer."""
    record = of.call_records(address, lambda records: records.get_record(id_))
    if as_json:
        print(record_to_json(record))
        return
    console = Console(highlight=False)
    console.print(record.summary.question, markup=False)
    printer = TracePrinter(console, contributions=True)
    for event in record.events:
        if not isinstance(event, TokenDrafted):
            printer.show(event)
    if record.summary.failure:
        console.print(f"{record.summary.failure} {record.error}".strip(), markup=False)


@app.command("explain")
def explain(
    id_: of.Id,
    theta: Annotated[float | None, typer.Option(metavar="THETA", help="Threshold.")] = None,
    trigger: Annotated[str | None, typer.Option(metavar="NAME", help="Trigger.")] = None,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="Published policy. Default: the answer's.")
    ] = "",
    address: RecordsAddress = RUNNING,
    output: Format = None,
) -> None:
    """Judge the drafts of an answer again under other settings.

    No model is called.
    """
    overrides = PolicyOverrides(theta=theta, trigger=trigger)
    request = ExplainRecordRequest(id_, policy, overrides)
    found = of.call_records(address, lambda records: records.explain_record(request))
    columns = (
        Column("draft", right=False),
        Column("retrieved", right=False),
        Column("would_retrieve", right=False),
        Column("uncertain", "uncertain words", right=False),
        Column("query", right=False),
    )
    rows = [
        (
            each.judged.text.strip() or f"sentence {each.judged.sentence + 1}",
            "yes" if each.recorded_retrieving else "no",
            "yes" if each.judged.retrieving else "no",
            ", ".join(word.text for word in each.judged.words if word.uncertain),
            each.query.text if each.query is not None else "",
        )
        for each in found.drafts
    ]
    print_table(Table(columns, rows), output)
    if any(draft.judged.scorer_mismatch for draft in found.drafts):
        print_notes("mismatch: contributions and thresholds are of a scorer that does not fit")
    print_notes(
        f"{found.policy.trigger}, theta {found.policy.theta:g}: "
        f"{counted(found.retrievals, 'retrieval')} instead of {found.recorded_retrievals}"
    )


@app.command("export")
def export(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="New file.")],
    tenant: of.Tenant = "",
    policy: of.Policy = "",
    request_id: of.RequestId = "",
    since: of.Since = "",
    until: of.Until = "",
    address: RecordsAddress = RUNNING,
) -> None:
    """Write whole records to a file, one JSON object per line."""
    chosen = RecordFilter(
        tenant=tenant, policy=policy, request_id=request_id, since=since, until=until
    )

    async def lines(records: Records) -> int:
        number = 0
        with _new_file(out) as written:
            async for summary in RecordsClient(records).summaries(chosen):
                record = await records.get_record(summary.id)
                written.write(f"{record_to_json(record)}\n".encode())
                number += 1
        return number

    print(f"{counted(of.call_records(address, lines), 'record')} in {out}")


@app.command("delete")
def delete(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of records.")
    ] = None,
    tenant: of.Tenant = "",
    index: of.Index = "",
    request_id: of.RequestId = "",
    since: of.Since = "",
    until: of.Until = "",
    address: RecordsAddress = RUNNING,
) -> None:
    """Delete records, with their feedback.

    --tenant and --request-id answer a request for the deletion of data.
    """
    chosen = RecordFilter(
        tenant=tenant, index=index, request_id=request_id, since=since, until=until
    )
    if bool(ids) is not chosen.is_empty:
        raise InvalidRequest.of("ID", "must be given, or one of the options, and not both")
    deleted = of.call_records(
        address, lambda records: records.delete_records(chosen, ids=tuple(ids or ()))
    )
    print(f"{counted(deleted, 'record')} deleted")


@app.command("feedback")
def feedback(
    id_: Annotated[str, typer.Argument(metavar="ID", help="Id of the record or of the request.")],
    verdict: Annotated[Verdict, typer.Argument(help="The verdict.")],
    comment: Annotated[str, typer.Option(metavar="TEXT", help="A comment.")] = "",
    address: RecordsAddress = RUNNING,
) -> None:
    """Store the verdict of a user on an answer."""
    stored = of.call_records(
        address, lambda records: records.submit_feedback(id_, verdict, comment)
    )
    print(f"{stored.id}: {verdict}")


@app.command("questions")
def questions(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="New file.")],
    verdict: Annotated[
        Verdict, typer.Option(help="Questions whose answers have this verdict.")
    ] = Verdict.CORRECT,
    tenant: of.Tenant = "",
    policy: of.Policy = "",
    since: of.Since = "",
    until: of.Until = "",
    address: RecordsAddress = RUNNING,
) -> None:
    """Write the questions with feedback as a data set.

    It is for `scaar eval run` and `scaar tune`. The answer of a correct one becomes its known
    answer; other questions have none, and serve `scaar tune --only threshold`. Records without
    texts are left out.
    """
    chosen = RecordFilter(
        tenant=tenant,
        policy=policy,
        since=since,
        until=until,
        verdict=verdict,
        kind=RequestKind.QUESTION,
    )

    async def write(records: Records) -> int:
        seen: set[str] = set()
        with _new_file(out) as written:
            async for summary in RecordsClient(records).summaries(chosen):
                if (question := _question_of(summary)) and summary.question not in seen:
                    seen.add(summary.question)
                    line = json.dumps(question, ensure_ascii=False)
                    written.write(f"{line}\n".encode())
        return len(seen)

    print(f"{counted(of.call_records(address, write), 'question')} in {out}")


@app.command("usage")
def usage(
    tenant: of.Tenant = "",
    policy: of.Policy = "",
    since: of.Since = "",
    until: of.Until = "",
    period_s: Annotated[
        int, typer.Option("--period", metavar="SECONDS", help="Length of a period.")
    ] = DAY_S,
    address: RecordsAddress = RUNNING,
    output: Format = None,
) -> None:
    """Show answers, tokens and retrievals by period.

    Each line is of one tenant and one policy.
    """
    chosen = RecordFilter(tenant=tenant, policy=policy, since=since, until=until)
    groups = of.call_records(
        address, lambda records: records.summarize_records(chosen, period_s=period_s)
    )
    names = ("tenant", "start", "policy")
    counts = ("answers", "failed", "retrievals", "generated_tokens", "prompt_tokens")
    columns = (*(Column(name, right=False) for name in names), *map(Column, counts))
    rows = [tuple(getattr(each, name) for name in (*names, *counts)) for each in groups]
    print_table(Table(columns, rows, [_json_of(each) for each in groups]), output)


def _question_of(summary: RecordSummary) -> dict[str, object]:
    """Return a question in the plain layout; empty for a record without texts."""
    if not summary.question or summary.content != "full":
        return {}
    question: dict[str, object] = {"id": summary.id, "question": summary.question}
    correct = summary.feedback is not None and summary.feedback.verdict is Verdict.CORRECT
    return {**question, "answers": [summary.answer]} if correct else question


def _json_of(value: RecordSummary | RecordGroup) -> dict[str, object]:
    return asdict(value)


def _new_file(out: Path) -> "AbstractContextManager[IO[bytes]]":
    if out.exists():
        raise InvalidRequest.of("FILE", f"{out} exists")
    return cast("AbstractContextManager[IO[bytes]]", new_file(out, field="FILE"))
