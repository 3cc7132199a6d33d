"""``/mcp``, by the official client over sockets, with the current and an older protocol."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AnswerEvent,
    AnswerForm,
    AnswerRequest,
    GateJudged,
    ModelDescription,
    RecommendedSettings,
    RequestKind,
    SentenceJudged,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    SAMPLED_MODEL,
    SCRIPTED_MODEL,
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.gateways import (
    PASSAGES,
    TEXT,
    URL,
    cited_answer,
    gateway_before,
    refusing_answer,
)

MODES = ("auto", "legacy")


@asynccontextmanager
async def connected(
    mode: str = "auto",
    answerer: ScriptedAnswerer | None = None,
    model: ModelDescription = SAMPLED_MODEL,
) -> AsyncIterator[Client]:
    retriever = InMemoryRetriever({"lab": PASSAGES}, fields={"lab": ("url",)})
    ports = Ports(
        ScriptedGenerator({}, model=model),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        retriever,
    )
    served = answerer or ScriptedAnswerer(cited_answer)
    catalog, judge = (
        PortsCatalog(ports, version="1", default_index="lab"),
        AdaptiveLoop(ports, default_index="lab"),
    )
    async with (
        gateway_before(served, catalog, judge=judge) as url,
        Client(f"{url}/mcp", mode=mode) as client,
    ):
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_are_read_only_and_name_all_their_arguments(mode: str) -> None:
    async with connected(mode) as client:
        tools = (await client.list_tools()).tools
    assert [each.name for each in tools] == ["answer", "search", "explain", "would_retrieve"]
    for each in tools:
        assert each.annotations is not None
        assert each.annotations.read_only_hint is True
        assert each.input_schema["additionalProperties"] is False


@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_has_citations_and_decisions_that_can_be_explained(mode: str) -> None:
    async with connected(mode) as client:
        found = await called(client, "answer", question="Where was Ada born?")
        explained = await called(client, "explain", decisions=found["decisions"])
    assert (found["answer"], found["text"]) == ("London", TEXT)
    assert found["citations"][0] == {"start": 0, "end": 23, "title": "Ada", "url": URL}
    assert [each["id"] for each in found["passages"]] == ["p1", "p2"]
    assert explained["explanation"].splitlines() == [
        "Sentence 1, draft: 'Ada was born in Paris.'.",
        "  Uncertain: 'Paris.' (probability 0.1 below threshold 0.25). Therefore passages are "
        "retrieved.",
        "  Query (pfq): 'Where was Ada born?'.",
        "  Passages of lab: p1 (Ada), p2 (Byron & <co>).",
        "  Rewritten: 'Ada was born in London.'.",
        "Sentence 1, accepted from p1, p2: 'Ada was born in London.'.",
        "  Supported by p1, p2.",
        "Sentence 2, accepted without passages: 'So the answer is London.'.",
    ]


async def test_an_answer_says_that_the_documents_do_not_contain_it() -> None:
    async with connected(answerer=ScriptedAnswerer(refusing_answer)) as client:
        found = await called(client, "answer", question="Where was Ada born?")
    assert (found["abstained"], found["text"]) == (True, TEXT)


@pytest.mark.parametrize(
    ("trigger", "uncertain"),
    [(0, ", most of all 'Ada'"), (1, ""), (-1, "")],
)
async def test_a_decision_without_its_triggering_word_is_explained(
    trigger: int, uncertain: str
) -> None:
    judged = {"text": "Ada", "words": [{"text": "Ada"}], "trigger": trigger, "retrieving": True}
    async with connected() as client:
        found = await called(client, "explain", decisions=[{"sentence_judged": judged}])
    assert found["explanation"].splitlines()[1] == (
        f"  Uncertain: the sentence as a whole{uncertain}. Therefore passages are retrieved."
    )


async def test_would_retrieve_stops_the_answer_after_its_first_decision() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with connected(answerer=answerer) as client:
        found = await called(client, "would_retrieve", question="Where was Ada born?")
    assert found["would_retrieve"] is True
    assert found["draft"] == "Ada was born in Paris."
    assert found["words"] == [{"text": "Paris.", "probability": 0.1, "threshold": 0.25}]
    assert answerer.requests[0].kind is RequestKind.PROBE


async def test_a_null_argument_is_the_same_as_none() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with connected(answerer=answerer) as client:
        nulls = {"policy": None, "index": None}
        asked = {"question": "Where was Ada born?", **nulls}
        answer = await called(client, "answer", **asked, filters=None)
        probed = await called(client, "would_retrieve", **asked, draft=None)
        options = {"index": None, "top_k": None, "filters": None, "mode": None, "rerank": None}
        found = await called(client, "search", query="Ada London", **options)
    assert answer["text"] == TEXT
    assert probed["would_retrieve"] is True
    assert len(found["passages"]) == 2
    assert [each.index for each in answerer.requests] == ["", ""]


@pytest.mark.parametrize(("policy", "expected"), [("no_retrieval", False), ("scaar", True)])
async def test_would_retrieve_follows_the_policy_that_a_gate_lets_answer(
    policy: str, expected: bool
) -> None:
    def gated(request: AnswerRequest) -> Iterator[AnswerEvent]:
        for event in cited_answer(request):
            if isinstance(event, SentenceJudged):
                yield GateJudged("skr", policy, 0.1, 0.5, {})
            yield event

    async with connected(answerer=ScriptedAnswerer(gated)) as client:
        found = await called(client, "would_retrieve", question="Where was Ada born?")
    assert found["would_retrieve"] is expected


async def test_would_retrieve_judges_a_given_draft() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    draft = "So it is. She was born in Paris. So the answer is Paris."
    model = replace(SAMPLED_MODEL, recommended=(RecommendedSettings("flare", theta=0.5),))
    async with connected(answerer=answerer, model=model) as client:
        found = await called(
            client, "would_retrieve", question="Where was Ada born?", draft=draft, policy="flare"
        )
        explained = await called(client, "explain", decisions=[found["decision"]])
        concluding = await called(
            client, "would_retrieve", question="Where?", draft="So the answer is Paris."
        )
    assert found["policy"] == "flare"
    assert found["would_retrieve"] is True
    assert found["draft"] == "She was born in Paris."
    assert [each["text"] for each in found["words"]] == ["Paris."]
    assert found["query"] == "She was born in"
    assert "Sentence 2, draft: 'She was born in Paris.'" in explained["explanation"]
    assert (concluding["would_retrieve"], concluding["draft"]) == (False, "")
    assert answerer.requests == []


async def test_a_model_that_scores_no_given_text_is_an_error_of_the_draft() -> None:
    async with connected(model=SCRIPTED_MODEL) as client:
        result = await client.call_tool("would_retrieve", {"question": "Where?", "draft": "Here."})
    assert result.is_error
    assert "a given draft needs text_logprobs" in str(result.content)
    assert "CAPABILITY_MISSING" in str(result.content)


async def test_a_search_returns_passages_with_links() -> None:
    async with connected() as client:
        found = await called(client, "search", query="Ada London", top_k=1)
        by_words = await called(client, "search", query="Ada London", top_k=1, mode="words")
    assert [(each["id"], each["url"]) for each in found["passages"]] == [("p1", URL)]
    assert found["passages"][0]["score_parts"] == {}
    assert by_words["passages"] == found["passages"]


async def test_policies_and_indexes_are_resources() -> None:
    async with connected() as client:
        listed = (await client.list_resources()).resources
        policies = await client.read_resource("scaar://policies")
        indexes = await client.read_resource("scaar://indexes")
    assert {str(each.uri) for each in listed} == {"scaar://policies", "scaar://indexes"}
    assert '"flare"' in str(policies.contents[0])
    assert '"lab"' in str(indexes.contents[0]).replace("\\", "")


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("search", {"query": "x", "index": "nowhere"}, "NOT_FOUND"),
        ("search", {"query": "x", "top_k": 0}, "greater than or equal to 1"),
        ("answer", {"question": ""}, "at least 1 character"),
        ("answer", {"question": "x", "index": "no name"}, "index"),
        ("answer", {"question": "x", "theta": 0.5}, "theta\\n  Extra inputs are not permitted"),
        ("search", {"query": "x", "limit": 5}, "limit\\n  Extra inputs are not permitted"),
        ("would_retrieve", {"question": "x", "draft": "a" * 8001}, "at most 8000 characters"),
        ("would_retrieve", {"question": "x", "draft": " "}, "draft: must not be empty"),
        ("would_retrieve", {"question": "x", "draft": "y", "policy": "ircot"}, "judges no drafts"),
        ("explain", {"decisions": [{"sentence_judged": {"words": 3}}]}, "is not an event"),
        ("explain", {"decisions": [{"gate_judged": {"probability": 10**400}}]}, "int too large"),
    ],
)
async def test_an_error_can_be_read_by_the_model(
    tool: str, arguments: dict[str, Any], text: str
) -> None:
    async with connected() as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert text in str(result.content)


async def test_the_caller_acts_under_its_own_identity() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with gateway_before(answerer, require_token=True) as url:
        async with Client(f"{url}/mcp") as client:
            result = await client.call_tool("answer", {"question": "x"})
            assert result.is_error
            assert "a bearer token is missing" in str(result.content)
        answer: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "answer", "arguments": {"question": "Where?"}},
        }
        headers = {
            "authorization": "Bearer secret",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-06-18",
            "x-request-id": "r-7",
        }
        async with httpx2.AsyncClient(headers=headers) as http:
            response = await http.post(f"{url}/mcp", json=answer)
    assert response.json()["result"]["structuredContent"]["request_id"] == "r-7"
    (asked,) = answerer.requests
    assert (asked.request_id, asked.answer) == ("r-7", AnswerForm.TEXT)


@pytest.mark.parametrize("uri", ["scaar://policies", "scaar://indexes"])
async def test_a_resource_reports_an_invalid_identity(
    uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        gateway_before(ScriptedAnswerer(cited_answer)) as url,
        httpx2.AsyncClient(headers={"authorization": "Basic x"}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        with pytest.raises(MCPError, match=r"must be 'Bearer TOKEN' \(UNAUTHENTICATED\)"):
            await client.read_resource(uri)
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


async def ping(gateway: str, **headers: str) -> int:
    """Return the status of a ping with further headers."""
    accepted = {"accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with httpx2.AsyncClient() as client:
        return (await client.post(gateway, json=body, headers={**accepted, **headers})).status_code


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize("address", ["127.0.0.1:0", "0.0.0.0:0"])
async def test_a_page_of_another_host_is_rejected(address: str, path: str) -> None:
    async with gateway_before(ScriptedAnswerer(cited_answer), address=address) as url:
        gateway = url.replace("0.0.0.0", "127.0.0.1") + path
        assert await ping(gateway) == 200
        assert await ping(gateway, host="evil.example") == 421
        for origin in ("https://evil.example", "http://203.0.113.9", "null", "file://"):
            assert await ping(gateway, origin=origin) == 403
        assert await ping(gateway, origin="http://localhost:3000") == 200


async def test_allowed_hosts_and_origins_may_call() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with gateway_before(
        answerer,
        address="0.0.0.0:0",
        allowed_hosts=("scaar.example.com",),
        allowed_origins=("https://app.example.com",),
    ) as url:
        gateway = url.replace("0.0.0.0", "127.0.0.1") + "/mcp"
        assert await ping(gateway, host="scaar.example.com:8443") == 200
        assert await ping(gateway, origin="https://scaar.example.com") == 200
        assert await ping(gateway, origin="https://app.example.com") == 200
        assert await ping(gateway, origin="https://other.example.com") == 403
    async with gateway_before(answerer, allowed_hosts=("*",)) as url:
        assert await ping(f"{url}/mcp", host="any.example", origin="https://any.example") == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
async def test_the_server_without_sessions_supports_post_alone(method: str) -> None:
    async with (
        gateway_before(ScriptedAnswerer(cited_answer)) as url,
        httpx2.AsyncClient(timeout=5) as client,
    ):
        headers = {"accept": "application/json, text/event-stream"}
        async with client.stream(method, f"{url}/mcp", headers=headers) as response:
            assert response.status_code == 405
            assert response.headers["allow"] == "POST"
