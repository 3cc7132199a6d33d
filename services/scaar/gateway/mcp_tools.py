"""The tools and resources of the gateway's MCP server."""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import Field
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from scaar.client.requests import filter_choices, policy_request
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.types import AnswerForm, AnswerRequest, SearchMode, SearchRequest
from scaar.core.validation import MAX_QUESTION_CHARACTERS
from scaar.gateway.answers import Completed, Style, link_of, whole_answer
from scaar.gateway.content import Link
from scaar.gateway.explanation import explain_decisions
from scaar.gateway.first_decision import first_decision, given_decision
from scaar.gateway.options import Values
from scaar.gateway.orchestrator import Caller, Orchestrator
from scaar.gateway.parameters import AnswerParameters
from scaar.gateway.passages import gateway_url
from scaar.gateway.search import MODE, RERANK, rerank_settings, score_parts_of
from scaar.gateway.settings import GatewaySettings
from scaar.gateway.summary import extra_usage

Json = dict[str, Any]
_Value = TypeVar("_Value")
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
# Events that say why passages were retrieved; tokens and the whole answer are not among them.
_DECISIONS = frozenset(
    """
    gate_judged sentence_judged query_built passages_retrieved passages_filtered
    sentence_regenerated sentence_accepted question_rewritten search_requested retrieval_weighed
    candidates_scored answer_drafted
    """.split()
)

# The request of a call. Handlers run in tasks of it, and those of resources get no context.
_SCOPE: ContextVar[Scope] = ContextVar("mcp_scope")

Question = Annotated[
    str, Field(description="The question.", min_length=1, max_length=MAX_QUESTION_CHARACTERS)
]
Draft = Annotated[
    str | None, Field(description="A draft of the answer; default: the model's.", max_length=8000)
]
DEFAULT_TOP_K = 3
TopK = Annotated[
    int | None,
    Field(ge=1, le=100, description=f"Number of passages; default: {DEFAULT_TOP_K}."),
]
Policy = Annotated[str | None, Field(description="Name of a policy; default: that of the server.")]
Index = Annotated[str | None, Field(description="Name of an index; default: that of the server.")]
Filters = Annotated[
    Mapping[str, Values] | None,
    Field(description="Values that passages must have, by metadata field."),
]


class Identified:
    """Serves an application whose handlers act for the caller of the request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = _SCOPE.set(scope)
        try:
            await self._app(scope, receive, send)
        finally:
            _SCOPE.reset(token)


class Tools:
    """Serves the tools for the caller of each request."""

    def __init__(self, orchestrator: Orchestrator, settings: GatewaySettings) -> None:
        self._orchestrator = orchestrator
        self._settings = settings

    def build(self) -> list[Tool]:
        """Return the tools."""
        return [
            _tool(self.answer, "Answer a question with citations"),
            _tool(self.search, "Search an index"),
            _tool(self.explain, "Explain why passages were retrieved"),
            _tool(self.would_retrieve, "Report whether a question needs a retrieval"),
        ]

    def add_resources(self, server: MCPServer[Any]) -> None:
        """Register the resources."""
        for uri, name, read in (
            ("scaar://policies", "policies", self._policies),
            ("scaar://indexes", "indexes", self._indexes),
        ):
            server.resource(uri, name=name, mime_type="application/json")(read)

    async def answer(
        self,
        question: Question,
        policy: Policy = None,
        index: Index = None,
        filters: Filters = None,
    ) -> Json:
        """Answer a question of fact, with citations and the decisions that led to it.

        The model drafts each sentence. Where it is uncertain, passages are retrieved and the
        sentence is written again. `decisions` can be passed to `explain`.
        """
        parameters = self._parameters(question, policy, index, filters)
        style = Style("annotations", self._settings.url_field, self._gateway(), events=True)
        completed = await _served(whole_answer(self._caller(), parameters, style), ToolError)
        return _answer(completed, link_of(completed.answer.provenance, parameters, style))

    async def search(
        self,
        query: Annotated[str, Field(description="The query.", min_length=1, max_length=32768)],
        index: Index = None,
        top_k: TopK = None,
        filters: Filters = None,
        mode: Annotated[SearchMode | None, Field(description=MODE)] = None,
        rerank: Annotated[bool | None, Field(description=RERANK)] = None,
    ) -> Json:
        """Return the passages of an index for a query, best first, without an answer."""
        name = index or self._settings.default_index
        request = SearchRequest(
            query,
            name,
            top_k or DEFAULT_TOP_K,
            filter_choices(filters or {}),
            mode=mode or SearchMode.INDEX,
            rerank=rerank_settings(bool(rerank)),
        )
        found = await _served(
            self._caller().catalog.search(request),
            ToolError,
        )
        link = Link(found.index, self._settings.url_field, self._gateway())
        passages = [
            {
                "id": each.id,
                "title": each.title,
                "text": each.text,
                "score": each.score,
                "score_parts": score_parts_of(each),
                "url": link.of(each),
            }
            for each in found.passages
        ]
        return {"index": found.index, "index_version": found.index_version, "passages": passages}

    async def explain(
        self,
        decisions: Annotated[
            list[Json], Field(description="The decisions of an answer.", max_length=4096)
        ],
    ) -> Json:
        """Explain in words why an answer retrieved passages, from its `decisions`."""
        try:
            return {"explanation": explain_decisions(decisions)}
        except InvalidRequest as error:
            raise ToolError(error.message) from error

    async def would_retrieve(
        self, question: Question, policy: Policy = None, index: Index = None, draft: Draft = None
    ) -> Json:
        """Report whether a policy retrieves passages for a question, and for which words.

        The sentences of `draft` are judged up to the first one for which it does. Without a draft,
        the model drafts the first sentence. Nothing is retrieved.
        """
        caller, parameters = self._caller(), self._parameters(question, policy, index, None)
        if draft:
            return await _served(given_decision(caller, parameters, draft), ToolError)
        return await _served(first_decision(caller, parameters), ToolError)

    async def _policies(self) -> Json:
        found = await _served(self._caller(ResourceError).catalog.list_policies(), ResourceError)
        return {
            "policies": [
                {
                    "name": each.policy.name,
                    "available": each.is_served,
                    "missing_capabilities": [str(name) for name in each.missing_capabilities],
                    "missing_files": list(each.missing_files),
                    "settings": list(each.settings),
                    "uses_retriever": each.uses_retriever,
                }
                for each in found
            ]
        }

    async def _indexes(self) -> Json:
        found = await _served(self._caller(ResourceError).catalog.list_indexes(), ResourceError)
        return {
            "indexes": [
                {"name": each.name, "version": each.version, "damage": each.damage or None}
                for each in found
            ]
        }

    def _parameters(
        self,
        question: str,
        policy: str | None,
        index: str | None,
        filters: Mapping[str, Values] | None,
    ) -> AnswerParameters:
        name = index or self._settings.default_index
        request = AnswerRequest(
            question,
            policy_request(policy or "", {}),
            name,
            filters=filter_choices(filters or {}),
            answer=AnswerForm.TEXT,
        )
        return AnswerParameters("scaar", request)

    def _gateway(self) -> str:
        return gateway_url(self._settings, Request(_SCOPE.get()))

    def _caller(self, kind: Callable[[str], Exception] = ToolError) -> Caller:
        scope = _SCOPE.get()
        try:
            return self._orchestrator.caller(Headers(scope=scope), scope["state"]["request_id"])
        except ScaarError as error:
            raise kind(f"{error.message} ({error.reason})") from error


def _tool(function: Callable[..., Awaitable[Json]], title: str) -> Tool:
    """Return the tool of a function. It rejects unknown arguments, which MCP's library ignores."""
    tool = Tool.from_function(function, title=title, annotations=_READ_ONLY, structured_output=True)
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return tool


async def _served(work: Awaitable[_Value], kind: Callable[[str], Exception]) -> _Value:
    """Return the result of the work; an error of scaar is one that the model can read."""
    try:
        return await work
    except ScaarError as error:
        raise kind(f"{error.message} ({error.reason})") from error


def _answer(completed: Completed, link: Link) -> Json:
    answer = completed.answer
    decisions = [each for each in completed.decisions if not _DECISIONS.isdisjoint(each)]
    return {
        "answer": answer.answer,
        "text": completed.refusal or completed.text,
        "abstained": answer.abstained is not None,
        "citations": [
            {
                "start": each.start,
                "end": each.end,
                "title": each.title,
                "url": each.url,
            }
            for each in completed.citations
        ],
        "unsupported": [{"start": start, "end": end} for start, end in completed.unsupported],
        "passages": [
            {
                "id": each.id,
                "title": each.title,
                "text": each.text,
                "url": link.of(each),
                "supports": each.id in answer.supporting_passage_ids,
            }
            for each in answer.passages
        ],
        "decisions": decisions,
        "usage": extra_usage(answer.usage),
        "request_id": answer.provenance.request_id,
    }
