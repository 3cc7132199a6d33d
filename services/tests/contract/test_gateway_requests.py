"""What every request to a gateway passes: identity, limits, ids, pages and search."""

import asyncio
import gzip
import json
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest

from scaar.core.errors import AlreadyExists, InvalidRequest
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import Ports
from scaar.core.tenancy import proved_tenant
from scaar.core.types import AnswerEvent, AnswerRequest, DenseSettings, MetadataField, Passage
from scaar.gateway.server import open_gateway
from scaar.gateway.settings import GatewaySettings
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.settings import ServiceSettings
from scaar.telemetry.setup import open_http_metrics
from scaar.testing.certificates import Authority
from scaar.testing.fakes import (
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.gateways import PASSAGES, TEXT, cited_answer, gateway_before
from scaar.testing.word_cross_encoder import write_word_cross_encoder
from scaar.testing.word_encoder import write_word_encoder

CHAT = {"model": "scaar", "messages": [{"role": "user", "content": "Where was Ada born?"}]}
STREAM = {**CHAT, "stream": True}


@asynccontextmanager
async def reached(
    answerer: ScriptedAnswerer | None = None,
    catalog: PortsCatalog | None = None,
    *,
    orchestrator: ServiceSettings | None = None,
    **settings: Any,
) -> AsyncIterator[httpx2.AsyncClient]:
    served = answerer or ScriptedAnswerer(cited_answer)
    async with (
        gateway_before(served, catalog, orchestrator=orchestrator, **settings) as url,
        httpx2.AsyncClient(base_url=url, timeout=20) as client,
    ):
        yield client


def error_of(response: httpx2.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["error"]
    return found


async def test_a_request_id_passes_through_and_a_missing_or_invalid_one_is_replaced() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with reached(answerer) as client:
        named = await client.post(
            "/v1/chat/completions", json=CHAT, headers={"x-request-id": "r-1"}
        )
        for header in ({}, {"x-request-id": "a" * 129}):
            other = await client.post("/v1/chat/completions", json=CHAT, headers=header)
            assert re.fullmatch("[0-9a-f]{32}", other.headers["x-request-id"])
        wrong = await client.post("/v1/chat/completions", json={}, headers={"x-request-id": "r-2"})
    assert named.headers["x-request-id"] == named.json()["scaar"]["request_id"] == "r-1"
    assert (wrong.status_code, wrong.headers["x-request-id"]) == (400, "r-2")
    assert answerer.requests[0].request_id == "r-1"


async def test_the_orchestrator_authenticates_the_caller(tmp_path: Path) -> None:
    identities = tmp_path / "identities.yaml"
    identities.write_text(f"tokens:\n  {sha256(b'secret').hexdigest()}: acme\n")
    tenants: list[str | None] = []

    def script(request: AnswerRequest) -> Iterator[AnswerEvent]:
        tenants.append(proved_tenant())
        return cited_answer(request)

    behind = OrchestratorSettings(stop_grace_s=0.0, identities_file=identities)
    async with reached(ScriptedAnswerer(script), orchestrator=behind) as client:
        path = "/v1/chat/completions"
        right = {"authorization": "Bearer secret"}
        assert (await client.post(path, json=CHAT, headers=right)).status_code == 200
        for headers in (
            {},
            {"authorization": "Bearer"},
            {"authorization": "Bearer other"},
            {"authorization": "Basic c2U="},
        ):
            for body in (CHAT, STREAM):
                response = await client.post(path, json=body, headers=headers)
                assert response.status_code == 401, headers
                assert error_of(response)["code"] == "UNAUTHENTICATED"
                assert response.headers["www-authenticate"] == "Bearer"
        foreign = {**right, "x-scaar-tenant": "globex"}
        assert (await client.post(path, json=CHAT, headers=foreign)).status_code == 403
        assert (await client.get("/v1/models")).status_code == 401
        assert (await client.get("/readyz")).status_code == 200
    assert tenants == ["acme"]


async def test_a_gateway_can_require_tokens() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with reached(answerer, require_token=True) as client:
        for method, path in (("GET", "/v1/models"), ("POST", "/v1/responses")):
            body = {"json": {"model": "scaar", "input": "x"}} if method == "POST" else {}
            response = await client.request(method, path, **body)
            assert response.status_code == 401
            assert "a bearer token is missing" in error_of(response)["message"]
    assert answerer.opened == 0


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_large_body_is_rejected(chunked: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(8):
            yield b"x" * 1024

    answerer = ScriptedAnswerer(cited_answer)
    async with reached(answerer, max_body_bytes=4096) as client:
        content: Any = pieces() if chunked else b"x" * 8192
        response = await client.post("/v1/chat/completions", content=content)
    assert response.status_code == 413
    assert "at most 4,096 bytes" in error_of(response)["message"]
    assert error_of(response)["param"] is None
    assert answerer.opened == 0


async def test_requests_over_the_limit_are_rejected_with_a_delay() -> None:
    answerer = ScriptedAnswerer(cited_answer, delay_s=0.1)
    async with reached(answerer, max_concurrent_requests=1) as client:
        async with client.stream("POST", "/v1/chat/completions", json=STREAM) as response:
            rejected = await client.post("/v1/chat/completions", json=CHAT)
            assert (await client.get("/healthz")).status_code == 200
            await response.aread()
        accepted = await client.post("/v1/chat/completions", json=CHAT)
    assert (rejected.status_code, error_of(rejected)["code"]) == (429, "OVERLOADED")
    assert "the gateway is at its limit of 1" in error_of(rejected)["message"]
    assert int(rejected.headers["retry-after"]) >= 1
    assert accepted.status_code == 200


async def test_many_streams_run_concurrently() -> None:
    answerer = ScriptedAnswerer(cited_answer, delay_s=0.01)
    async with reached(answerer) as client, asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(client.post("/v1/chat/completions", json=STREAM)) for _ in range(64)
        ]
    for each in tasks:
        assert each.result().text.endswith("data: [DONE]\n\n")
    assert answerer.closed == 64


async def test_a_reader_that_stops_reading_ends_its_answer() -> None:
    def endless(request: AnswerRequest) -> Iterator[AnswerEvent]:
        events = list(cited_answer(request))
        yield events[0]
        while True:
            yield from events[4:5]

    answerer = ScriptedAnswerer(endless)
    body = {**STREAM, "scaar": {"events": True}}
    async with (
        reached(answerer, write_timeout_s=0.3) as client,
        client.stream("POST", "/v1/chat/completions", json=body) as response,
        asyncio.timeout(20),
    ):
        assert response.status_code == 200
        while not answerer.closed:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_gateway_that_stops_reports_it_and_finishes_its_requests() -> None:
    answerer = ScriptedAnswerer(cited_answer, delay_s=0.15)
    async with httpx2.AsyncClient(timeout=20) as client:
        async with gateway_before(answerer, drain_s=0.3, stop_grace_s=5.0) as url:
            assert (await client.get(f"{url}/readyz")).status_code == 200
            running = asyncio.create_task(client.post(f"{url}/v1/chat/completions", json=STREAM))
            while not answerer.opened:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            stopping = asyncio.create_task(_readiness_during_stop(client, url))
        assert (await running).text.endswith("data: [DONE]\n\n")
        assert await stopping == 503
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"{url}/readyz")


async def _readiness_during_stop(client: httpx2.AsyncClient, url: str) -> int:
    while True:
        status = (await client.get(f"{url}/readyz")).status_code
        if status != 200:
            return status


async def test_a_gateway_is_not_ready_without_its_orchestrator() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        target = f"dns:///127.0.0.1:{probe.getsockname()[1]}"
    settings = GatewaySettings(address="127.0.0.1:0", orchestrator_target=target)
    async with open_gateway(settings) as gateway, httpx2.AsyncClient(timeout=20) as client:
        assert (await client.get(f"{gateway}/healthz")).status_code == 200
        assert (await client.get(f"{gateway}/readyz")).status_code == 503
        response = await client.post(f"{gateway}/v1/chat/completions", json=CHAT)
    assert (response.status_code, error_of(response)["code"]) == (503, "BACKEND_UNAVAILABLE")


async def test_the_pages_need_nothing_from_outside() -> None:
    async with reached() as client:
        page = await client.get("/docs")
        schema = (await client.get("/openapi.json")).json()
        for path in re.findall(r'(?:src|href)="([^"]+)"', page.text):
            assert path.startswith("/"), path
            assert (await client.get(path)).status_code == 200
    paths = schema["paths"]
    assert {"/v1/chat/completions", "/v1/responses", "/v1/models", "/retrieve"} <= set(paths)
    responses = paths["/v1/chat/completions"]["post"]["responses"]
    assert set(responses) == {"200", "default"}
    assert "HTTPValidationError" not in schema["components"]["schemas"]


async def test_scripts_of_allowed_origins_may_call() -> None:
    preflight = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    async with reached(allowed_origins=("https://app.example",)) as client:
        allowed = await client.options("/v1/chat/completions", headers=preflight)
        answered = await client.post(
            "/v1/chat/completions", json=CHAT, headers={"origin": "https://app.example"}
        )
        other = await client.options(
            "/v1/chat/completions", headers={**preflight, "origin": "https://evil.example"}
        )
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    assert answered.headers["access-control-allow-origin"] == "https://app.example"
    assert "x-request-id" in answered.headers["access-control-expose-headers"]
    assert "access-control-allow-origin" not in other.headers


async def test_retrieve_has_the_form_of_search_r1() -> None:
    lang = (MetadataField("lang", ("en",)),)
    found = (*PASSAGES, Passage("p3", "Two\nlines", "London in June.", lang))
    retriever = InMemoryRetriever({"lab": found}, fields={"lab": ("url", "lang")})
    ports = Ports(ScriptedGenerator({}), ScriptedScorer({}), LocalQueryBuilder(), retriever)
    catalog = PortsCatalog(ports, version="1", default_index="lab")
    async with reached(catalog=catalog) as client:
        body = {"queries": ["Ada", "June"], "topk": 1}
        plain = (await client.post("/retrieve", json=body)).json()
        scored = (await client.post("/retrieve", json={**body, "return_scores": True})).json()
        filtered = await client.post(
            "/retrieve", json={"queries": ["London"], "filters": {"lang": "en"}}
        )
        missing = await client.post("/retrieve", json={**body, "index": "nowhere"})
        empty = await client.post("/retrieve", json={"queries": []})
        too_many = await client.post("/retrieve", json={"queries": ["x"] * 257})
    ada = {"id": "p1", "contents": '"Ada"\nAda was born in London.'}
    june = {"id": "p3", "contents": '"Two lines"\nLondon in June.'}
    assert plain == {"result": [[ada], [june]]}
    assert [[each["document"] for each in hits] for hits in scored["result"]] == [[ada], [june]]
    assert all(each["score"] > 0 for hits in scored["result"] for each in hits)
    assert filtered.json() == {"result": [[june]]}
    assert (missing.status_code, error_of(missing)["code"]) == (404, "NOT_FOUND")
    assert [empty.status_code, too_many.status_code] == [400, 400]
    assert error_of(too_many)["param"] == "queries"


async def test_passages_state_the_scores_of_every_stage(tmp_path: Path) -> None:
    texts = tuple(f"{each.title} {each.text}" for each in PASSAGES)
    write_word_encoder(tmp_path / "words", texts)
    write_word_cross_encoder(tmp_path / "reader", texts)
    settings = RetrieverSettings(
        indexes=tmp_path / "indexes", encoder=tmp_path / "words", reranker=tmp_path / "reader"
    )
    async with open_retriever(settings) as retriever:
        await retriever.index_passages(
            "lab", stream_of(PASSAGES), metadata_fields=("url",), dense=DenseSettings(words=True)
        )
        ports = Ports(ScriptedGenerator({}), ScriptedScorer({}), LocalQueryBuilder(), retriever)
        async with reached(catalog=PortsCatalog(ports, version="1", default_index="lab")) as client:
            body = {"queries": ["Ada London"], "topk": 1, "return_scores": True}
            staged = await client.post("/retrieve", json={**body, "mode": "hybrid", "rerank": True})
            plain = await client.post("/retrieve", json={**body, "mode": "words"})
            wrong = await client.post("/retrieve", json={**body, "mode": "both"})
    ((found,),) = staged.json()["result"]
    assert set(found["score_parts"]) == {"words", "vectors", "fused", "rerank"}
    assert found["score_parts"]["words"]["rank"] == 1
    assert found["score_parts"]["rerank"] == found["score"]
    ((found,),) = plain.json()["result"]
    assert found["score_parts"] == {}
    assert (wrong.status_code, error_of(wrong)["param"]) == (400, "mode")


async def stream_of(passages: Iterable[Passage]) -> AsyncIterator[Passage]:
    for each in passages:
        yield each


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/chat/completions", CHAT), ("/v1/responses", {"model": "scaar", "input": "Where?"})],
)
async def test_a_stream_of_null_is_a_whole_answer(path: str, body: dict[str, Any]) -> None:
    async with reached() as client:
        found = await client.post(path, json={**body, "stream": None})
    assert found.status_code == 200
    assert found.json()["usage"]["total_tokens"] == 52


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": 5}, "input"),
        ({"input": {"str": 5}}, "input"),
        ({"input": [{"role": "user"}]}, "input.0.content"),
        ({"input": [{"content": "Where?"}]}, "input.0.role"),
        ({"scaar": {"settings": {"theta": []}}}, "scaar.settings.theta"),
        ({"scaar": {"filters": {"x": 5}}}, "scaar.filters.x"),
        ({"scaar": {"filters": {"str": {}}}}, "scaar.filters.str"),
        ({"scaar": {"budget": {"max_tokens": 0}}}, "scaar.budget.max_tokens"),
        ({"body": 1}, "body"),
        ({"model": None}, "model"),
    ],
)
async def test_an_invalid_field_is_named_by_its_path(fields: dict[str, Any], param: str) -> None:
    async with reached() as client:
        body = {"model": "scaar", "input": "Where?", **fields}
        found = await client.post("/v1/responses", json=body)
        missing = await client.post("/v1/responses", json={"model": "scaar"})
        message = await client.post("/v1/chat/completions", json={**CHAT, "messages": [{}]})
    assert (found.status_code, error_of(found)["param"]) == (400, param)
    assert error_of(missing)["param"] == "input"
    assert error_of(message)["param"] == "messages.0.role"


async def test_paths_are_answered_with_a_slash_at_the_end() -> None:
    retriever = InMemoryRetriever({"lab": PASSAGES})
    ports = Ports(ScriptedGenerator({}), ScriptedScorer({}), LocalQueryBuilder(), retriever)
    async with reached(catalog=PortsCatalog(ports, version="1", default_index="lab")) as client:
        chat = await client.post("/v1/chat/completions/", json=CHAT)
        listed = await client.get("/v1/models/")
        model = await client.get("/v1/models/scaar/")
    assert [each.status_code for each in (chat, listed, model)] == [200, 200, 200]
    assert chat.json()["choices"][0]["message"]["content"] == TEXT
    assert listed.json()["object"] == "list"


async def test_completions_of_a_text_are_refused_by_naming_chats() -> None:
    async with reached() as client:
        found = await client.post("/v1/completions", json={"model": "scaar", "prompt": "Where?"})
    assert (found.status_code, error_of(found)["code"]) == (400, "CAPABILITY_MISSING")
    assert "send POST /v1/chat/completions" in error_of(found)["message"]


async def test_what_is_not_there_is_an_error_of_the_same_form() -> None:
    async with reached() as client:
        nowhere = await client.get("/v1/nowhere")
        method = await client.get("/v1/responses")
        garbage = await client.post(
            "/v1/chat/completions", content=b"{", headers={"content-type": "application/json"}
        )
        form = await client.post("/v1/chat/completions", content=json.dumps(CHAT))
    statuses = [each.status_code for each in (nowhere, method, garbage, form)]
    assert statuses == [404, 405, 400, 400]
    assert method.headers["allow"] == "POST"
    assert error_of(garbage)["param"] is None
    assert "the body is not JSON: Expecting property name" in error_of(garbage)["message"]
    assert "(character 1)" in error_of(garbage)["message"]
    assert error_of(form)["message"] == "header content-type: must be application/json"
    for response in (nowhere, method, garbage, form):
        assert set(error_of(response)) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    "content",
    [
        b'{"model": "\xff"}',
        b"[" * 100_000,
        b'{"max_tokens": ' + b"9" * 5000 + b"}",
        gzip.compress(json.dumps(CHAT).encode()),
    ],
    ids=["invalid UTF-8", "deep nesting", "long integer", "gzip"],
)
async def test_a_body_that_cannot_be_read_is_an_invalid_request(content: bytes) -> None:
    headers = {"content-type": "application/json"}
    async with reached() as client:
        found = await client.post("/v1/chat/completions", content=content, headers=headers)
    assert (found.status_code, error_of(found)["code"]) == (400, "INVALID_REQUEST")
    assert error_of(found)["param"] is None
    assert "the body cannot be read as JSON" in error_of(found)["message"]


async def test_requests_are_counted_by_route_and_status() -> None:
    async with (
        open_http_metrics("127.0.0.1:0", service="gateway") as (observer, address),
        httpx2.AsyncClient(timeout=20) as client,
    ):
        answerer = ScriptedAnswerer(cited_answer)
        async with gateway_before(answerer, observer=observer) as url:
            await client.post(f"{url}/v1/chat/completions", json=CHAT)
            await client.get(f"{url}/v1/models/some/thing")
            await client.get(f"{url}/made-up-path")
            text = (await client.get(f"http://{address}/metrics")).text
    assert 'scaar_http_requests_total{route="POST /v1/chat/completions",status="200"} 1.0' in text
    assert 'route="GET /v1/models/{model:path}",status="404"' in text
    assert 'route="GET unknown",status="404"' in text
    assert "scaar_http_in_progress 0.0" in text
    assert "made-up-path" not in text


async def test_https_needs_a_certificate_and_its_key(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "authority")
    issued = authority.issue()
    cert, key = issued.cert, issued.key
    trusting = ssl.create_default_context(cafile=authority.ca)
    async with (
        gateway_before(ScriptedAnswerer(cited_answer), tls_cert_file=cert, tls_key_file=key) as url,
        httpx2.AsyncClient(verify=trusting) as client,
    ):
        assert url.startswith("https://127.0.0.1:")
        found = await client.post(f"{url}/v1/chat/completions", json=CHAT)
        before = await asyncio.to_thread(_certificate_at, url)
        # A renewal: the same names by the same authority.
        renewed = authority.issue()
        assert await asyncio.to_thread(_certificate_at, url) != before
        assert renewed.cert == cert
    assert found.json()["choices"][0]["message"]["content"] == TEXT
    for wrong in ({"tls_cert_file": cert}, {"tls_cert_file": cert, "tls_key_file": cert}):
        with pytest.raises(InvalidRequest, match="SCAAR_GATEWAY_TLS_"):
            async with open_gateway(GatewaySettings(address="127.0.0.1:0", **wrong)):
                pass


def _certificate_at(url: str) -> str:
    host, _, port = url.removeprefix("https://").rpartition(":")
    return ssl.get_server_certificate((host, int(port)))


async def test_an_address_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(AlreadyExists, match=address):
            async with open_gateway(GatewaySettings(address=address)):
                pass
