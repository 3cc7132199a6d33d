"""The page of an answer: every decision, what would have happened, time, usage and feedback."""

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from scaar.console.answer_view import view_of
from scaar.console.commands import ask_command, grpc_call
from scaar.console.loading import loaded_or
from scaar.console.number_text import time_text
from scaar.console.rendering import back_ends_of, ports_of, render, settings_of
from scaar.console.what_if import is_published, judge_again
from scaar.core.errors import BackendUnavailable, InvalidRequest, PermissionDenied
from scaar.core.ports import Records
from scaar.core.records import AnswerRecord, RecordContent, Verdict
from scaar.core.types import PolicyDescription
from scaar.wire.records import record_to_json


async def answer(request: Request) -> Response:
    """Return the page of a record."""
    records = _records(request)
    record = await records.get_record(request.path_params["id"])
    what_if = await judge_again(records, record, request.query_params, await _tuned(request))
    asked = {"what_if": what_if, "asks_what_if": bool(request.query_params), "whole_page": True}
    return render(request, "answer.html", {**_context(request, record), **asked})


async def outcome(request: Request) -> Response:
    """Return the outcome of the what-if form alone."""
    records = _records(request)
    record = await records.get_record(request.path_params["id"])
    form = request.query_params
    tuned = () if is_published(form.get("policy", "")) else await _tuned(request)
    what_if = await judge_again(records, record, form, tuned)
    return render(request, "what_if_outcome.html", {"what_if": what_if, "whole_page": False})


async def as_json(request: Request) -> Response:
    """Return a record as JSON."""
    record = await _records(request).get_record(request.path_params["id"])
    name = f'attachment; filename="{record.summary.id}.json"'
    return Response(
        record_to_json(record), media_type="application/json", headers={"content-disposition": name}
    )


async def feedback(request: Request) -> Response:
    """Store the verdict of the form, and return to the answer."""
    if settings_of(request).read_only:
        raise PermissionDenied("the console is read-only: set SCAAR_CONSOLE_READ_ONLY=false")
    form = await request.form()
    try:
        verdict = Verdict(str(form.get("verdict", "")))
    except ValueError as error:
        known = ", ".join(each.value for each in Verdict)
        raise InvalidRequest.of("verdict", f"must be one of {known}") from error
    comment = " ".join(str(form.get("comment", "")).split())
    stored = await _records(request).submit_feedback(request.path_params["id"], verdict, comment)
    return RedirectResponse(f"/answers/{stored.id}#feedback", 303)


async def _tuned(request: Request) -> tuple[PolicyDescription, ...]:
    """Return the tuned policies of the installation; none if they cannot be read."""
    found = await loaded_or((), ports_of(request).catalog.list_policies())
    return tuple(each for each in found if each.artefact is not None)


def _records(request: Request) -> Records:
    records = ports_of(request).records
    if records is None:
        text = "the records service is not configured: set SCAAR_CONSOLE_RECORDS_TARGET"
        raise BackendUnavailable(text)
    return records


def _context(request: Request, record: AnswerRecord) -> dict[str, Any]:
    settings, summary = settings_of(request), record.summary
    target = back_ends_of(request).services["orchestrator"].target
    has_texts = summary.content is RecordContent.FULL
    trace_url = ""
    if settings.trace_url and summary.trace_id:
        trace_url = settings.trace_url.replace("{trace_id}", summary.trace_id)
    return {
        "record": record,
        "summary": summary,
        "view": view_of(record.events, record.event_ms, question=summary.question),
        "time": f"{time_text(summary.created_at)} UTC",
        "trace_url": trace_url,
        "can_give_feedback": not settings.read_only,
        "verdicts": tuple(Verdict),
        "ask_command": ask_command(record.request, target) if has_texts else "",
        "grpc_call": grpc_call(record.request, target) if has_texts else "",
    }


routes = (
    Route("/answers/{id}.json", as_json),
    Route("/answers/{id}/what-if", outcome),
    Route("/answers/{id}/feedback", feedback, methods=["POST"]),
    Route("/answers/{id}", answer),
)
