"""Reranking by a server, and its failures."""

import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from scaar.core.calls.breaker import BreakerLimits
from scaar.core.calls.breakers import Breakers
from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    Overloaded,
    ScaarError,
)
from scaar.core.loop.budget import deadline_in
from scaar.retriever.reranking.remote import RemoteReranker, open_remote_reranker
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.closing_relay import closing_relay
from scaar.testing.conformance.reranking import relevance
from scaar.testing.rerank_server import RerankServer

TEXTS = ["Etna", "a cold volcano", "volcano"]


@asynccontextmanager
async def asking(
    server: RerankServer, breakers: Breakers | None = None, **settings: Any
) -> AsyncIterator[RemoteReranker]:
    given = RetrieverSettings(**{"rerank_url": server.url, **settings})
    breaker = breakers.of_server("reranker", server.url) if breakers else None
    async with open_remote_reranker(given, breaker) as reranker:
        yield reranker


async def test_texts_are_sent_in_bounded_requests_and_scored_in_their_order() -> None:
    async with (
        RerankServer() as server,
        asking(server, rerank_model="m", rerank_max_batch=2, rerank_api_key="k1") as reranker,
    ):
        assert reranker.name == "m"
        found = await reranker.relevance("volcano", TEXTS)
    assert found == pytest.approx([relevance("volcano", each) for each in TEXTS])
    assert server.requests == [
        {"model": "m", "query": "volcano", "documents": TEXTS[:2], "top_n": 2},
        {"model": "m", "query": "volcano", "documents": TEXTS[2:], "top_n": 1},
    ]
    assert {each["Authorization"] for each in server.headers} == {"Bearer k1"}


async def test_without_a_model_none_is_sent_and_the_server_names_the_reranker() -> None:
    async with RerankServer() as server, asking(server) as reranker:
        await reranker.relevance("volcano", TEXTS)
        assert reranker.name == server.url.removeprefix("http://")
    assert "model" not in server.requests[0]
    assert "Authorization" not in server.headers[0]


async def test_long_queries_and_texts_are_cut_off() -> None:
    async with RerankServer() as server, asking(server, rerank_max_characters=5) as reranker:
        await reranker.relevance("volcanoes", ["😀" * 9, "abc"])
    (sent,) = server.requests
    assert (sent["query"], sent["documents"]) == ("volca", ["😀" * 5, "abc"])


@pytest.mark.parametrize(
    ("suffix", "path"),
    [
        ("", "/v1/rerank"),
        ("/", "/v1/rerank"),
        ("/v1", "/v1/rerank"),
        ("/v2/rerank", "/v2/rerank"),
        ("/models/x", "/models/x/v1/rerank"),
    ],
)
async def test_the_url_may_name_the_path(suffix: str, path: str) -> None:
    async with (
        RerankServer(path=path) as server,
        asking(server, rerank_url=f"{server.url}{suffix}") as reranker,
    ):
        assert len(await reranker.relevance("volcano", TEXTS)) == 3


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (401, CapabilityMissing, "rejects the key: set SCAAR_RETRIEVER_RERANK_API_KEY_FILE"),
        (404, CapabilityMissing, "no such path or model .status 404."),
        (422, CapabilityMissing, "refuses the request .status 422."),
        (429, Overloaded, "is overloaded"),
        (503, BackendUnavailable, "cannot answer now: status 503"),
        (301, CapabilityMissing, "refuses the request .status 301."),
    ],
)
async def test_a_refusal_is_a_condition_without_the_text_of_the_server(
    status: int, kind: type[ScaarError], message: str
) -> None:
    async with RerankServer(status=status, answer="secret") as server, asking(server) as reranker:
        with pytest.raises(kind, match=message) as caught:
            await reranker.relevance("volcano", TEXTS)
    assert "secret" not in f"{caught.value} {caught.value.detail}"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("<html>", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("1" * (1 << 21), "more than 1,048,576 bytes"),
        ([], "no list of results"),
        ({"results": [{"index": 0}]}, "no list of results"),
        ({"results": [{"index": 0, "relevance_score": "high"}]}, "no list of results"),
        ({"results": [{"index": 0, "relevance_score": 1}]}, "other results than one for each of 3"),
        (
            {"results": [{"index": each, "relevance_score": 1} for each in range(4)]},
            "other results than one for each of 3",
        ),
        ('{"results": [{"index": 0, "relevance_score": NaN}]}', "not a finite number"),
    ],
)
async def test_an_invalid_response_is_refused(answer: Any, message: str) -> None:
    async with RerankServer(answer=answer) as server, asking(server) as reranker:
        with pytest.raises(BackendUnavailable, match=f"invalid response: .*{message}"):
            await reranker.relevance("volcano", TEXTS)


async def test_a_slow_server_and_an_early_deadline_end_the_request() -> None:
    async with RerankServer(delay_s=5) as server:
        async with asking(server, rerank_timeout_s=0.05) as reranker:
            with pytest.raises(DeadlineExceeded, match=r"took more than 0.05 s"):
                await reranker.relevance("volcano", TEXTS)
        async with asking(server) as reranker:
            with deadline_in(0.2):
                slow = reranker.relevance("volcano", TEXTS)
                with pytest.raises(DeadlineExceeded, match="took more than 0.1"):
                    await slow
            with deadline_in(0.01), pytest.raises(DeadlineExceeded, match="no time remains"):
                await reranker.relevance("volcano", TEXTS)


async def test_an_absent_server_is_unavailable_and_opens_the_breaker() -> None:
    async with RerankServer() as server:
        pass
    breakers = Breakers(BreakerLimits(failures=2))
    async with asking(server, breakers) as reranker:
        for _ in range(2):
            with pytest.raises(BackendUnavailable, match="does not respond") as caught:
                await reranker.relevance("volcano", TEXTS)
            assert caught.value.detail == os.strerror(errno.ECONNREFUSED)
        with pytest.raises(BackendUnavailable, match=f"reranker at {server.url} is not called"):
            await reranker.relevance("volcano", TEXTS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rerank_url": "localhost:8000"}, "RERANK_URL: must be http://host:port"),
        ({"rerank_url": "http://u:p@h"}, "RERANK_URL: must have no user or password"),
        ({"rerank_api_key": " "}, "RERANK_API_KEY: must be one line"),
        ({"rerank_api_key": "a\nb"}, "RERANK_API_KEY: must be one line"),
        ({"rerank_api_key_file": Path("/nothing")}, "RERANK_API_KEY_FILE: /nothing cannot be"),
        ({"rerank_ca_file": Path("/nothing")}, "RERANK_CA_FILE: /nothing is not a file of"),
        (
            {"rerank_api_key": "a", "rerank_api_key_file": Path("/nothing")},
            "RERANK_API_KEY_FILE: must not be set together",
        ),
    ],
)
async def test_wrong_settings_are_refused_by_name(settings: dict[str, Any], message: str) -> None:
    given = RetrieverSettings(**{"rerank_url": "http://localhost:1", **settings})
    with pytest.raises(InvalidRequest, match=f"SCAAR_RETRIEVER_{message}"):
        async with open_remote_reranker(given):
            pass


async def test_a_key_of_a_file_is_sent(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-file\n")
    async with (
        RerankServer() as server,
        asking(server, rerank_api_key_file=tmp_path / "key") as reranker,
    ):
        await reranker.relevance("volcano", TEXTS)
    assert server.headers[0]["Authorization"] == "Bearer from-file"


async def test_a_connection_that_the_server_closes_fails_no_request() -> None:
    async with RerankServer() as server, closing_relay(server.url, drops=True) as relay:
        settings = RetrieverSettings(rerank_url=relay.url)
        async with open_remote_reranker(settings) as reranker:
            for _ in range(5):
                assert len(await reranker.relevance("volcano", TEXTS)) == len(TEXTS)
        assert relay.dropped > 0
        assert len(server.requests) == 5
