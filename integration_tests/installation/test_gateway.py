"""The gateways of an installation, from outside: HTTP that answers as gRPC does."""

import asyncio
from http import HTTPStatus

import grpc
import pytest

from . import http_client
from .access import Access
from .client import answer, request
from .http_client import CHAT, chat, policy_model, send
from .needs import Need, needs
from .ours.installation import GATEWAY, Installation

pytestmark = needs(Need.GATEWAY)


def text_of(answered: object) -> str:
    """Return the sentences of an answer of gRPC as a client of HTTP reads them."""
    sentences = answered.answer.sentences  # type: ignore[attr-defined]
    return "".join(each.text for each in sentences).strip()


def test_a_gateway_reports_that_it_runs_and_is_ready(access: Access) -> None:
    for path, status in (("/healthz", "ok"), ("/readyz", "ready")):
        response = send(access, path, token="")
        assert (response.status, response.json()["status"]) == (HTTPStatus.OK, status)


def test_policies_and_the_index_are_models(access: Access) -> None:
    found = {each["id"] for each in send(access, "/v1/models").json()["data"]}
    assert {"scaar", "scaar/no_retrieval"} <= found
    assert send(access, "/v1/models/scaar/flare").status == HTTPStatus.OK


@pytest.mark.parametrize("policy", ["scaar", "single_round", "no_retrieval"])
async def test_a_chat_is_answered_as_by_grpc(
    access: Access, channel: grpc.aio.Channel, policy: str
) -> None:
    expected = await answer(channel, request(access, policy))
    # A policy that does not retrieve exists without an index only.
    named = {"model": policy_model(policy)} if policy == "no_retrieval" else {}
    response = await asyncio.to_thread(send, access, CHAT, chat(access, policy, **named))
    assert response.status == HTTPStatus.OK, response.text
    found = response.json()
    (choice,) = found["choices"]
    assert choice["message"]["content"].strip() == text_of(expected)
    assert found["scaar"]["answer"] == expected.answer.answer
    assert found["usage"]["retrievals"] == expected.answer.usage.retrievals
    assert found["scaar"]["request_id"] == response.headers["x-request-id"]


async def test_a_stream_has_the_text_of_the_whole_answer(access: Access) -> None:
    whole = (await asyncio.to_thread(send, access, CHAT, chat(access))).json()
    streamed = await asyncio.to_thread(send, access, CHAT, chat(access, stream=True))
    assert streamed.headers["content-type"].startswith("text/event-stream")
    choices = [choice for chunk in streamed.events() for choice in chunk["choices"]]
    text = "".join(each["delta"].get("content") or "" for each in choices)
    assert text == whole["choices"][0]["message"]["content"]
    assert choices[-1]["finish_reason"] == whole["choices"][0]["finish_reason"]


async def test_responses_have_the_text_of_chats(access: Access) -> None:
    chatted = (await asyncio.to_thread(send, access, CHAT, chat(access))).json()
    body = {"model": chat(access)["model"], "input": access.question}
    response = await asyncio.to_thread(send, access, "/v1/responses", body)
    assert response.status == HTTPStatus.OK, response.text
    (text,) = [
        part["text"]
        for item in response.json()["output"]
        if item["type"] == "message"
        for part in item["content"]
    ]
    assert text == chatted["choices"][0]["message"]["content"]


def test_an_index_that_does_not_exist_is_not_found(access: Access) -> None:
    body = {**chat(access), "model": "scaar@nowhere"}
    response = send(access, CHAT, body)
    assert response.status == HTTPStatus.NOT_FOUND
    assert response.json()["error"]["code"] == "NOT_FOUND"


@needs(Need.TLS, Need.TOKEN)
@pytest.mark.parametrize("token", ["", "another"])
def test_a_caller_without_a_valid_token_is_unauthorized(secured: Access, token: str) -> None:
    for path, body in ((CHAT, chat(secured)), ("/v1/models", None)):
        response = send(secured, path, body, token=token)
        assert response.status == HTTPStatus.UNAUTHORIZED
        assert response.headers["www-authenticate"] == "Bearer"


@needs(Need.TLS, Need.TOKEN)
async def test_a_caller_with_a_token_is_answered_over_tls_without_a_certificate(
    secured: Access,
) -> None:
    async with secured.channel() as channel:
        expected = await answer(channel, request(secured, "single_round"))
    response = await asyncio.to_thread(send, secured, CHAT, chat(secured, "single_round"))
    assert response.status == HTTPStatus.OK, response.text
    assert response.json()["choices"][0]["message"]["content"].strip() == text_of(expected)


@needs(Need.CONTROL)
@pytest.mark.parametrize("service", [GATEWAY, pytest.param("orchestrator", marks=pytest.mark.long)])
async def test_no_request_fails_while_a_service_is_replaced(
    installation: Installation, service: str
) -> None:
    async with http_client.requests(installation.access) as requests:
        await asyncio.to_thread(installation.replace, service)
    assert requests.failed == []
