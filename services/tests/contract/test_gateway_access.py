"""The indexes that a tenant may read, by every door of the gateway, on real indexes."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from scaar.core.loop.loop import Ports
from scaar.core.types import GenerateRequest
from scaar.query_builder.local import LocalQueryBuilder
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.access import (
    ABSENT,
    FORBIDDEN,
    build_indexes,
    permitted_parts,
    write_identities,
)
from scaar.testing.fakes import Piece, ScriptedGenerator, ScriptedScorer
from scaar.testing.gateways import gateway_before

ACME = {"authorization": "Bearer token-of-acme"}
NOBODY = {"authorization": "Bearer token-of-globex"}
QUESTION = "Is parental leave paid?"
Response = tuple[int, str]
Call = Callable[[str, str], Awaitable[Response]]


def _script(request: GenerateRequest) -> list[Piece]:
    return [(" So the answer is yes.", -0.1)]


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    identities = write_identities(tmp_path / "identities.yaml")
    async with open_retriever(RetrieverSettings(indexes=tmp_path / "indexes")) as engine:
        await build_indexes(engine)
        ports = Ports(ScriptedGenerator(_script), ScriptedScorer({}), LocalQueryBuilder(), engine)
        parts = permitted_parts(ports, identities)
        async with gateway_before(
            parts.answerer, parts.catalog, orchestrator=parts.settings
        ) as gateway:
            yield gateway


async def post(url: str, path: str, body: dict[str, Any]) -> Response:
    async with httpx2.AsyncClient(base_url=url, timeout=20) as client:
        response = await client.post(path, json=body, headers=ACME)
    return response.status_code, response.text


async def chat(url: str, index: str) -> Response:
    messages = [{"role": "user", "content": QUESTION}]
    body = {"model": f"scaar/single_round@{index}", "messages": messages}
    return await post(url, "/v1/chat/completions", body)


async def stream(url: str, index: str) -> Response:
    messages = [{"role": "user", "content": QUESTION}]
    body = {"model": f"scaar/single_round@{index}", "messages": messages, "stream": True}
    return await post(url, "/v1/chat/completions", body)


async def responses(url: str, index: str) -> Response:
    body = {"model": f"scaar/single_round@{index}", "input": QUESTION}
    return await post(url, "/v1/responses", body)


async def retrieve(url: str, index: str) -> Response:
    return await post(url, "/retrieve", {"queries": [QUESTION], "index": index, "topk": 10})


async def tool(url: str, name: str, **arguments: Any) -> Response:
    async with (
        httpx2.AsyncClient(headers=ACME, timeout=20) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        result = await client.call_tool(name, arguments)
    shown = [getattr(each, "text", "") for each in result.content]
    return 404 if result.is_error else 200, "".join(shown)


async def mcp_answer(url: str, index: str) -> Response:
    return await tool(url, "answer", question=QUESTION, index=index, policy="single_round")


async def mcp_search(url: str, index: str) -> Response:
    return await tool(url, "search", query=QUESTION, index=index, top_k=10)


async def passage(url: str, index: str) -> Response:
    async with httpx2.AsyncClient(base_url=url, timeout=20) as client:
        response = await client.get(f"/passages/{index}/acme-en", headers=ACME)
    return response.status_code, response.text


DOORS: dict[str, Call] = {
    "chat": chat,
    "stream": stream,
    "responses": responses,
    "retrieve": retrieve,
    "mcp answer": mcp_answer,
    "mcp search": mcp_search,
    "passage": passage,
}


@pytest.mark.parametrize("door", DOORS)
async def test_a_forbidden_index_is_not_found_like_one_that_never_was(url: str, door: str) -> None:
    found = {
        (status, text.replace(name, "NAME"))
        for name in (FORBIDDEN, ABSENT)
        for status, text in [await DOORS[door](url, name)]
    }
    ((status, text),) = found
    assert status == 404
    assert "no index 'NAME' (the caller may read: acme-docs, shared)" in text


@pytest.mark.parametrize("door", ["retrieve", "mcp search", "chat"])
async def test_mandatory_filters_apply_at_every_door(url: str, door: str) -> None:
    status, text = await DOORS[door](url, "shared")
    assert status == 200
    assert ("Parental leave at acme" in text, "globex" in text) == (door != "chat", False)
    status, text = await DOORS[door](url, "acme-docs")
    assert status == 200


async def test_a_passage_of_another_tenant_is_not_found_like_one_that_never_was(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url, headers=ACME, timeout=20) as client:
        own = await client.get("/passages/shared/acme-en")
        others = [await client.get(f"/passages/shared/{name}") for name in ("globex-en", "nothing")]
    assert own.json()["passage"]["text"] == "Parental leave at acme is paid."
    assert [response.status_code for response in others] == [404, 404]
    assert [response.json()["error"]["message"] for response in others] == [
        "no passage 'globex-en' in the index 'shared'",
        "no passage 'nothing' in the index 'shared'",
    ]


async def test_models_and_resources_are_those_of_the_caller(url: str) -> None:
    async with (
        httpx2.AsyncClient(base_url=url, headers=ACME, timeout=20) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        models = {each["id"] for each in (await http.get("/v1/models")).json()["data"]}
        (content,) = (await client.read_resource("scaar://indexes")).contents
        nobody = (await http.get("/v1/models", headers=NOBODY)).json()["data"]
    assert {"scaar@shared", "scaar@acme-docs"} < models
    assert not any(FORBIDDEN in each for each in models)
    listed = json.loads(content.text)["indexes"]
    assert [each["name"] for each in listed] == ["acme-docs", "shared"]
    assert not any("@" in each["id"] for each in nobody)
