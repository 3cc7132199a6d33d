"""The hosts by which clients may address a gateway, at every door, over sockets."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import Ports
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.gateways import PASSAGES, cited_answer, gateway_before

CHAT = {"model": "scaar", "messages": [{"role": "user", "content": "Where was Ada born?"}]}
DOORS: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "chat": ("POST", "/v1/chat/completions", CHAT),
    "stream": ("POST", "/v1/chat/completions", {**CHAT, "stream": True}),
    "responses": ("POST", "/v1/responses", {"model": "scaar", "input": "Where?"}),
    "models": ("GET", "/v1/models", None),
    "retrieve": ("POST", "/retrieve", {"queries": ["Ada"], "index": "lab"}),
    "passage": ("GET", "/passages/lab/p1", None),
    "grpc-web": ("POST", "/scaar.v1.OrchestratorService/Answer", {}),
    "mcp": ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    "description": ("GET", "/openapi.json", None),
    "unknown": ("GET", "/nothing", None),
}


@asynccontextmanager
async def reached(**settings: Any) -> AsyncIterator[httpx2.AsyncClient]:
    retriever = InMemoryRetriever({"lab": PASSAGES})
    ports = Ports(
        ScriptedGenerator(lambda request: []), ScriptedScorer({}), LocalQueryBuilder(), retriever
    )
    answerer = ScriptedAnswerer(cited_answer)
    async with (
        gateway_before(answerer, PortsCatalog(ports, version="1"), **settings) as url,
        httpx2.AsyncClient(base_url=url.replace("0.0.0.0", "127.0.0.1"), timeout=20) as client,
    ):
        yield client


async def statuses(client: httpx2.AsyncClient, host: str) -> dict[str, int]:
    """Return the status of every door for requests with this host."""
    found = {}
    for door, (method, path, body) in DOORS.items():
        headers = {"host": host, "accept": "application/json, text/event-stream"}
        response = await client.request(method, path, json=body, headers=headers)
        found[door] = response.status_code
    return found


async def first_line(client: httpx2.AsyncClient, request: bytes) -> str:
    """Return the first line of the response to the bytes of a request."""
    address = urlsplit(str(client.base_url))
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line.decode().strip()


async def test_a_page_of_a_rebound_name_reads_nothing_at_any_door() -> None:
    async with reached() as client:
        port = client.base_url.port
        rebound = await statuses(client, f"evil.example:{port}")
        own = await statuses(client, f"localhost:{port}")
    assert rebound == dict.fromkeys(DOORS, 421)
    assert 421 not in own.values()
    assert (own["chat"], own["passage"], own["mcp"]) == (200, 200, 200)


async def test_the_error_names_the_host_and_the_setting() -> None:
    async with reached() as client:
        response = await client.get(
            "/passages/lab/p1", headers={"host": "evil.example", "x-request-id": "r-1"}
        )
    error = response.json()["error"]
    assert error == {
        "message": "header host: must be a host of this server, not 'evil.example': "
        "allow other hosts by SCAAR_GATEWAY_ALLOWED_HOSTS",
        "type": "invalid_request_error",
        "param": "header host",
        "code": "INVALID_REQUEST",
    }
    assert response.headers["x-request-id"] == "r-1"
    assert "London" not in response.text


async def test_health_is_reported_to_every_host() -> None:
    async with reached() as client:
        for path in ("/healthz", "/readyz"):
            assert (await client.get(path, headers={"host": "evil.example"})).status_code == 200


@pytest.mark.parametrize(
    ("head", "accepted"),
    [
        ("GET /v1/models HTTP/1.1\r\nHost: localhost", True),
        ("GET /v1/models HTTP/1.0", True),
        ("GET http://localhost/v1/models HTTP/1.1\r\nHost: evil.example", False),
        ("GET http://localhost@evil.example/v1/models HTTP/1.1\r\nHost: evil.example", False),
        ("GET http://evil.example/healthz/../v1/models HTTP/1.1\r\nHost: evil.example", False),
        ("GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: evil.example", False),
        ("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nHost: localhost", False),
        ("GET /v1/models HTTP/1.1\r\nHost: localhost@evil.example", False),
        ("GET /v1/models HTTP/1.1\r\nHost:", False),
        ("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost", False),
        ("GET //healthz HTTP/1.1\r\nHost: evil.example", False),
        ("GET /healthz/ HTTP/1.1\r\nHost: evil.example", False),
    ],
)
async def test_no_form_of_a_request_passes_by(head: str, accepted: bool) -> None:
    async with reached() as client:
        line = await first_line(client, f"{head}\r\nConnection: close\r\n\r\n".encode())
    assert line.split()[1] in (("200",) if accepted else ("421", "400"))


async def test_a_proxy_may_pass_the_public_host_on() -> None:
    async with reached(allowed_hosts=("scaar.example.com",)) as client:
        found = await statuses(client, "scaar.example.com")
        others = await statuses(client, "evil.example")
    assert (found["chat"], found["passage"], found["mcp"]) == (200, 200, 200)
    assert others == dict.fromkeys(DOORS, 421)


async def test_a_gateway_on_another_address_is_reached_by_every_name() -> None:
    async with reached(address="0.0.0.0:0") as client:
        found = await statuses(client, "gateway:8090")
    assert found.pop("mcp") == 421
    assert 421 not in found.values()
    assert found["passage"] == 200


async def test_a_gateway_on_another_address_checks_every_door_if_hosts_are_allowed() -> None:
    async with reached(address="0.0.0.0:0", allowed_hosts=("gateway",)) as client:
        for host in ("gateway:8090", "localhost", "192.168.1.5:8090"):
            assert 421 not in (await statuses(client, host)).values()
        rebound = await statuses(client, "evil.example")
        health = await client.get("/readyz", headers={"host": "10.0.0.7.evil.example"})
    assert rebound == dict.fromkeys(DOORS, 421)
    assert health.status_code == 200


async def test_a_rejected_request_does_no_work() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with gateway_before(answerer) as url, httpx2.AsyncClient(timeout=20) as client:
        headers = {"host": "evil.example", "content-type": "application/json"}
        path = f"{url}/v1/chat/completions"
        response = await client.post(path, content=json.dumps(CHAT), headers=headers)
    assert response.status_code == 421
    assert answerer.opened == 0
