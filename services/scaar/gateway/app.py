"""The application: OpenAI-compatible HTTP, search and health."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.routing import Route

from scaar import __version__
from scaar.core.errors import CapabilityMissing, InvalidRequest, NotFound, ScaarError
from scaar.core.observers import UNOBSERVED_REQUESTS, RequestObserver
from scaar.core.types import PassageRequest
from scaar.gateway.answers import Part, Style, stream_parts, whole_answer
from scaar.gateway.chat import chat_chunks, chat_completion
from scaar.gateway.chat_request import ChatRequest
from scaar.gateway.description import describe_errors
from scaar.gateway.errors import error_response
from scaar.gateway.grpc_web import EXPOSED_HEADERS, grpc_web_routes
from scaar.gateway.mcp import MCP_PATH, build_mcp, protect_mcp
from scaar.gateway.mcp_tools import Identified
from scaar.gateway.model_names import ModelName, is_of_few, model_names
from scaar.gateway.options import ScaarOptions
from scaar.gateway.orchestrator import Caller, Orchestrator
from scaar.gateway.parameters import AnswerParameters
from scaar.gateway.passages import PASSAGES_PATH, gateway_url, passage_response
from scaar.gateway.responses import response_events, response_of
from scaar.gateway.responses_request import ResponsesRequest, fields_of_responses
from scaar.gateway.search import RetrieveRequest, retrieve
from scaar.gateway.settings import GatewaySettings
from scaar.gateway.tasks import TASK_HEADER
from scaar.gateway.violations import violation_of
from scaar.http_server.disconnects import unless_disconnected
from scaar.http_server.event_stream import EventStream
from scaar.http_server.host_check import HostCheck
from scaar.http_server.hosts import HostRule
from scaar.http_server.paths import WithoutFinalSlash
from scaar.http_server.requests import REQUEST_ID, Requests
from scaar.http_server.server import Readiness
from scaar.runtime.admission import Admission
from scaar.runtime.health import is_serving
from scaar.runtime.settings import variable_of
from scaar.wire.orchestrator import SERVICE_NAME

Json = dict[str, Any]
_READY_TIMEOUT_S = 2.0
_UNREADABLE = (
    "the body cannot be read as JSON: it must be UTF-8 without compression, without deep nesting "
    "and without integers of thousands of digits"
)
DESCRIPTION = """
Answers with adaptive retrieval, in the form of OpenAI's interface.
Models are named `scaar`, `scaar/POLICY`, `scaar@INDEX` or `scaar/POLICY@INDEX`.
The field `scaar` of a request sets what OpenAI's interface lacks: the policy and its settings,
filters, the budget, citations and whether decisions are reported.
"""
_PAGE: dict[int | str, Json] = {
    200: {"content": {"text/html": {}}, "description": "Also as a page."}
}
_EVENTS: dict[int | str, Json] = {
    200: {"content": {"text/event-stream": {}}, "description": "Also as events."}
}


def build_app(
    orchestrator: Orchestrator,
    settings: GatewaySettings,
    *,
    readiness: Readiness,
    observer: RequestObserver = UNOBSERVED_REQUESTS,
) -> FastAPI:
    """Return the application in front of an orchestrator."""
    mcp_app = build_mcp(orchestrator, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp_app.router.lifespan_context(mcp_app):
            yield

    app = FastAPIOffline(
        lifespan=lifespan,
        redirect_slashes=False,
        title="scaar gateway",
        version=__version__,
        description=DESCRIPTION,
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    _add_errors(app)
    describe_errors(app)
    _add_health(app, orchestrator, readiness)
    _add_models(app, orchestrator, settings)
    _add_answers(app, orchestrator, settings)

    @app.get(
        PASSAGES_PATH + "/{index}/{passage_id:path}",
        tags=["search"],
        summary="A passage of an index, with its neighbours",
        responses=_PAGE,
    )
    async def get_passage(request: Request, index: str, passage_id: str) -> Response:
        caller = _caller(orchestrator, request)
        read = await caller.catalog.get_passage(PassageRequest(index, passage_id))
        return passage_response(read, request.headers)

    @app.post("/retrieve", tags=["search"], summary="Passages for queries")
    async def retrieve_passages(request: Request, body: RetrieveRequest) -> Json:
        caller = _caller(orchestrator, request)
        work = retrieve(caller, body, default_index=settings.default_index)
        return await unless_disconnected(request.receive, work)

    # Without sessions there is no stream to GET and nothing to DELETE.
    protected = protect_mcp(Identified(mcp_app), settings)
    app.router.routes.append(Route(MCP_PATH, protected, methods=["POST"]))
    app.router.routes += grpc_web_routes(orchestrator, write_timeout_s=settings.write_timeout_s)
    app.add_middleware(
        HostCheck,
        rule=HostRule(settings.address, settings.allowed_hosts),
        setting=variable_of(GatewaySettings, "allowed_hosts"),
        error_response=error_response,
    )
    app.add_middleware(WithoutFinalSlash, prefixes=("/v1/", "/mcp/", "/retrieve/"))
    app.add_middleware(
        Requests,
        admission=Admission(settings.max_concurrent_requests, subject="the gateway"),
        max_body_bytes=settings.max_body_bytes,
        error_response=error_response,
        observer=observer,
    )
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST", "OPTIONS"],
            allow_headers=["*"],
            expose_headers=[REQUEST_ID, "retry-after", *EXPOSED_HEADERS],
        )
    return app


def _add_health(app: FastAPI, orchestrator: Orchestrator, readiness: Readiness) -> None:
    @app.get("/healthz", tags=["health"], summary="Whether the process runs")
    async def healthz() -> Json:
        return {"status": "ok", "version": __version__}

    @app.get("/readyz", tags=["health"], summary="Whether the orchestrator is ready")
    async def readyz() -> JSONResponse:
        if readiness.draining:
            return JSONResponse({"status": "draining"}, 503)
        serving = await is_serving(orchestrator.channel, SERVICE_NAME, timeout_s=_READY_TIMEOUT_S)
        if serving:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "the orchestrator is not ready"}, 503)


def _add_models(app: FastAPI, orchestrator: Orchestrator, settings: GatewaySettings) -> None:
    async def known(request: Request) -> list[ModelName]:
        catalog = _caller(orchestrator, request).catalog
        policies, indexes = await catalog.list_policies_and_indexes()
        return list(model_names(policies, indexes, default_index=settings.default_index))

    @app.get("/v1/models", tags=["models"], summary="Policies and indexes as models")
    async def list_models(request: Request) -> Json:
        found = await known(request)
        if settings.models == "few":
            found = list(filter(is_of_few, found))
        return {"object": "list", "data": [_model(str(each)) for each in found]}

    @app.get("/v1/models/{model:path}", tags=["models"], summary="One model")
    async def get_model(request: Request, model: str) -> Json:
        name = ModelName.parse(model)
        # A model may name the default index too, which the list leaves out.
        index = "" if name.index == settings.default_index else name.index
        if ModelName(name.policy, index) not in await known(request):
            text = "models are scaar, scaar/POLICY, scaar@INDEX and scaar/POLICY@INDEX"
            raise NotFound(f"the model {model!r} does not exist; {text}")
        return _model(model)


def _add_answers(app: FastAPI, orchestrator: Orchestrator, settings: GatewaySettings) -> None:
    def style_of(request: Request, options: ScaarOptions, stop: tuple[str, ...] = ()) -> Style:
        citations = options.citations or settings.citations
        gateway = gateway_url(settings, request)
        return Style(citations, settings.url_field, gateway, options.events, stop)

    def stated(request: Request) -> Json:
        task = request.headers.get(TASK_HEADER, "")
        return {"default_index": settings.default_index, "tools": settings.tools, "task": task}

    def stream(events: AsyncGenerator[bytes, None]) -> EventStream:
        return EventStream(
            events,
            keepalive_s=settings.keepalive_s,
            write_timeout_s=settings.write_timeout_s,
        )

    @app.post("/v1/chat/completions", tags=["answers"], summary="Answer a chat", responses=_EVENTS)
    async def create_chat_completion(request: Request, body: ChatRequest) -> Response:
        parameters = body.parameters(**stated(request))
        style = style_of(request, body.scaar, body.stop_sequences)
        caller = _caller(orchestrator, request)
        if not body.stream:
            work = whole_answer(caller, parameters, style)
            completed = await unless_disconnected(request.receive, work)
            return JSONResponse(chat_completion(completed, parameters, style))
        usage = body.stream_options is not None and body.stream_options.include_usage
        parts = await _started(request, caller, parameters, style)
        return stream(chat_chunks(parts, parameters, style, include_usage=usage))

    @app.post("/v1/responses", tags=["answers"], summary="Answer an input", responses=_EVENTS)
    async def create_response(request: Request, body: ResponsesRequest) -> Response:
        parameters = body.parameters(**stated(request))
        style = style_of(request, body.scaar)
        caller = _caller(orchestrator, request)
        with fields_of_responses():
            if not body.stream:
                work = whole_answer(caller, parameters, style)
                completed = await unless_disconnected(request.receive, work)
                return JSONResponse(response_of(completed, parameters, style))
            parts = await _started(request, caller, parameters, style)
        return stream(response_events(parts, parameters, style))

    @app.post("/v1/completions", include_in_schema=False)
    async def create_completion() -> Response:
        raise CapabilityMissing("this server answers chats: send POST /v1/chat/completions")


async def _started(
    request: Request, caller: Caller, parameters: AnswerParameters, style: Style
) -> AsyncGenerator[Part, None]:
    """Return the parts of an answer that has started, so that earlier errors have a status."""
    parts = stream_parts(caller, parameters, style)
    try:
        first = await unless_disconnected(request.receive, anext(parts))
    except BaseException:
        await parts.aclose()
        raise

    async def all_parts() -> AsyncGenerator[Part, None]:
        async with aclosing(parts):
            yield first
            async for each in parts:
                yield each

    return all_parts()


def _caller(orchestrator: Orchestrator, request: Request) -> Caller:
    return orchestrator.caller(request.headers, request.state.request_id)


def _model(name: str) -> Json:
    return {"id": name, "object": "model", "created": 0, "owned_by": "scaar"}


def _add_errors(app: FastAPI) -> None:
    """Return every error as OpenAI's error object."""

    @app.exception_handler(ScaarError)
    async def of_scaar(request: Request, error: Exception) -> Response:
        assert isinstance(error, ScaarError)
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def of_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        if not _is_json(request):
            # Forms need no preflight, so that pages of other origins could send them.
            text = "must be application/json"
            return error_response(InvalidRequest.of("header content-type", text))
        return error_response(
            InvalidRequest([violation_of(each, error.body) for each in error.errors()])
        )

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        found: ScaarError
        match error.status_code:
            case 400:
                # The one that FastAPI raises: the body cannot be parsed.
                found = InvalidRequest.of("request", _UNREADABLE)
            case 404:
                found = NotFound(f"there is nothing at {request.url.path}")
            case _:
                found = CapabilityMissing(f"{request.method} {request.url.path}: {error.detail}")
        response = error_response(found)
        response.status_code = error.status_code
        response.headers.update(error.headers or {})
        return response


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")
