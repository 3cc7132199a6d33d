"""The page to ask: a form, and the answer as its decisions are made."""

import asyncio
import json
import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from scaar.console.answer_view import sources_of, view_of
from scaar.console.blocks import Blocks
from scaar.console.examples import examples_of
from scaar.console.rendering import ports_of, render, settings_of, templates
from scaar.console.statuses import status_of
from scaar.core.errors import (
    BackendUnavailable,
    InvalidRequest,
    NotFound,
    ScaarError,
    Violation,
)
from scaar.core.plurals import counted
from scaar.core.policies.settings import MAX_TOP_K
from scaar.core.ports import Catalog
from scaar.core.queries import FORMULATIONS
from scaar.core.records import RecordFilter
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerForm,
    AnswerRequest,
    PolicyOverrides,
    PolicyRequest,
    PromptRead,
    TokenDrafted,
)
from scaar.http_server.disconnects import unless_disconnected
from scaar.http_server.event_stream import EventStream

_FIELDS = ("question", "policy", "index", "theta", "trigger", "query", "top_k")
_RECORDED_WITHIN_S, _POLL_S = 3.0, 0.2


@dataclass(frozen=True, slots=True)
class _Choices:
    """What the form offers, and why it offers less."""

    policies: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    notice: str = ""


async def form(request: Request) -> Response:
    """Return the form, filled from the query."""
    given = {name: request.query_params.get(name, "") for name in _FIELDS}
    return render(request, "ask.html", await _context(request, given))


async def ask(request: Request) -> Response:
    """Answer the question of the form, and return the whole page: for browsers without scripts."""
    given = await _given(request)
    context = await _context(request, given)
    try:
        asked = _asked(given, request)
        events = await unless_disconnected(request.receive, _all_events(request, asked))
    except ScaarError as error:
        status = status_of(error)
        return render(request, "ask.html", {**context, "problem": _text_of(error)}, status=status)
    view = view_of(events, question=asked.question)
    record = f"/answers/of-request/{asked.request_id}"
    return render(request, "ask.html", {**context, "view": view, "record": record})


async def examples(request: Request) -> Response:
    """Return the questions that suit the index of the form."""
    index = request.query_params.get("index", "")
    found = await examples_of(ports_of(request).catalog, index)
    return render(request, "examples.html", {"examples": found})


async def live(request: Request) -> Response:
    """Return the answer to the question of the form as server-sent events."""
    settings = settings_of(request)
    asked = _asked(await _given(request), request)
    answerer = ports_of(request).answerer

    async def sent() -> AsyncGenerator[bytes, None]:
        blocks = Blocks(asked.question)
        stream = answerer.stream_answer(asked)
        try:
            async with aclosing(stream) as events:
                async for event in events:
                    for name, data in _sent(event, blocks):
                        yield _event(name, data)
        except ScaarError as error:
            yield _event("failed", {"message": _text_of(error)})
            return
        yield _event("done", {"record": f"/answers/of-request/{asked.request_id}"})

    return EventStream(
        sent(), keepalive_s=settings.keepalive_s, write_timeout_s=settings.write_timeout_s
    )


async def of_request(request: Request) -> Response:
    """Lead to the newest record of a request id, which is written a moment after the answer."""
    records, request_id = ports_of(request).records, request.path_params["id"]
    if records is None:
        text = "the records service is not configured: set SCAAR_CONSOLE_RECORDS_TARGET"
        raise BackendUnavailable(text)
    for _ in range(round(_RECORDED_WITHIN_S / _POLL_S)):
        page = await records.list_records(RecordFilter(request_id=request_id), page_size=1)
        if page.records:
            return RedirectResponse(f"/answers/{page.records[0].id}", 303)
        await asyncio.sleep(_POLL_S)
    text = f"there is no record of the request {request_id!r}: the orchestrator may keep none"
    raise NotFound(text)


async def _given(request: Request) -> dict[str, str]:
    posted = await request.form()
    return {name: str(posted.get(name, "")).strip() for name in _FIELDS}


async def _context(request: Request, given: Mapping[str, str]) -> dict[str, Any]:
    catalog = ports_of(request).catalog
    choices, examples = await asyncio.gather(
        _choices(catalog), examples_of(catalog, given["index"])
    )
    return {
        "given": given,
        "choices": choices,
        "examples": examples,
        "triggers": tuple(TRIGGERS),
        "formulations": tuple(FORMULATIONS),
        "problem": "",
        "view": None,
        "record": "",
    }


async def _choices(catalog: Catalog) -> _Choices:
    try:
        policies, indexes = await asyncio.gather(catalog.list_policies(), catalog.list_indexes())
    except ScaarError as error:
        return _Choices(notice=f"The orchestrator does not list policies and indexes: {error}")
    return _Choices(
        tuple(each.policy.name for each in policies if each.is_served),
        tuple(each.name for each in indexes if not each.damage),
    )


def _asked(given: Mapping[str, str], request: Request) -> AnswerRequest:
    """Return the request of the form.

    Raises:
        InvalidRequest: naming every field that is no number, or one that no policy accepts.
    """
    theta, top_k = _number(given["theta"], float), _number(given["top_k"], int)
    wrong: list[Violation] = []
    if theta is not None and not math.isfinite(theta):
        text = f"must be a finite number, not {given['theta'][:40]!r}"
        wrong.append(Violation("theta", text))
    # The contract cannot carry every integer, so the services cannot check all of them.
    if top_k is not None and not 1 <= top_k <= MAX_TOP_K:
        text = f"must be a whole number from 1 to {MAX_TOP_K}, not {given['top_k'][:40]!r}"
        wrong.append(Violation("top_k", text))
    if wrong:
        raise InvalidRequest(wrong)
    overrides = PolicyOverrides(
        theta=theta, top_k=top_k, trigger=given["trigger"] or None, query=given["query"] or None
    )
    asked = AnswerRequest(
        given["question"],
        PolicyRequest(given["policy"], overrides),
        request_id=request.state.request_id,
        answer=AnswerForm.TEXT,
    )
    return replace(asked, index=given["index"]) if given["index"] else asked


def _number(text: str, kind: type[int] | type[float]) -> Any:
    """Return the number of a field: None if the field is empty, NaN if it has no number."""
    try:
        return kind(text) if text else None
    except ValueError:
        return math.nan


async def _all_events(request: Request, asked: AnswerRequest) -> list[AnswerEvent]:
    async with aclosing(ports_of(request).answerer.stream_answer(asked)) as events:
        return [event async for event in events]


def _sent(event: AnswerEvent, blocks: Blocks) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what is sent of an event: drafted text, how much is read, or the HTML of its block."""
    block = blocks.block(event)
    fragments: Any = templates().get_template("blocks.html").module
    if isinstance(event, TokenDrafted):
        heading = blocks.searches.writing_heading(event.sentence)
        return [("token", {"heading": heading, "text": event.token.text})]
    if isinstance(event, PromptRead):
        heading = blocks.searches.writing_heading(event.sentence)
        text = f"reading {counted(event.unread_tokens, 'token')}"
        return [("reading", {"heading": heading, "text": text})]
    if isinstance(event, AnswerFinished):
        answer = fragments.answer_text(event.answer, sources_of(event.answer, blocks.names))
        return [
            ("answer", {"html": str(answer)}),
            ("reason", {"html": str(fragments.reason(blocks.searches.reason_without()))}),
            ("usage", {"html": str(fragments.usage_line(event.answer))}),
        ]
    if block is None:
        return []
    return [("block", {"heading": block.heading, "html": str(fragments.block(block))})]


def _event(name: str, data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode()


def _text_of(error: ScaarError) -> str:
    if isinstance(error, InvalidRequest):
        return "; ".join(f"{each.field}: {each.description}" for each in error.violations)
    return error.message


routes = (
    Route("/", form),
    Route("/", ask, methods=["POST"]),
    Route("/ask", live, methods=["POST"]),
    Route("/ask/examples", examples),
    Route("/answers/of-request/{id:path}", of_request),
)
