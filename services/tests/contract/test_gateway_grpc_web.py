"""gRPC-Web through a gateway over sockets: calls, errors, limits, and browsers of other origins."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import httpx2
import pytest
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2

from scaar.core.errors import InvalidRequest
from scaar.core.types import AnswerEvent, AnswerRequest, AnswerStarted
from scaar.gateway.grpc_web import MAX_MESSAGE_BYTES
from scaar.gateway.server import open_gateway
from scaar.gateway.settings import GatewaySettings
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.gateways import PROVENANCE, TEXT, cited_answer, gateway_before
from scaar.v1 import orchestrator_pb2 as pb

SERVICE = "/scaar.v1.OrchestratorService"
BINARY, AS_TEXT = "application/grpc-web+proto", "application/grpc-web-text+proto"
QUESTION = pb.AnswerRequest(question="Where was Ada born?")
ORIGIN = "https://app.example.com"


@asynccontextmanager
async def reached(answerer: ScriptedAnswerer, **settings: Any) -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        gateway_before(answerer, **settings) as url,
        httpx2.AsyncClient(base_url=url, timeout=20) as client,
    ):
        yield client


def framed(message: Message | bytes, *, flags: int = 0) -> bytes:
    data = message if isinstance(message, bytes) else message.SerializeToString()
    return bytes([flags]) + len(data).to_bytes(4, "big") + data


async def call(
    client: httpx2.AsyncClient,
    method: str,
    body: Message | bytes,
    *,
    content_type: str = BINARY,
    headers: dict[str, str] | None = None,
) -> httpx2.Response:
    content = body if isinstance(body, bytes) else framed(body)
    found = {"content-type": content_type, **(headers or {})}
    path = method if method.startswith("/") else f"{SERVICE}/{method}"
    return await client.post(path, content=content, headers=found)


def read(body: bytes) -> tuple[list[bytes], dict[str, str]]:
    """Return the messages of a body and its trailers, which must be the last frame."""
    messages: list[bytes] = []
    while body:
        flags, size = body[0], int.from_bytes(body[1:5], "big")
        data, body = body[5 : 5 + size], body[5 + size :]
        if flags == 0x80:
            assert not body
            lines = data.decode().splitlines()
            return messages, {
                key: value for key, _, value in (each.partition(":") for each in lines)
            }
        assert flags == 0
        messages.append(data)
    raise AssertionError("the body has no trailers")


def status_in(trailers: dict[str, str]) -> Status:
    encoded = trailers["grpc-status-details-bin"]
    return Status.FromString(base64.b64decode(encoded + "=" * (-len(encoded) % 4)))


def started_only(request: AnswerRequest) -> Iterator[AnswerEvent]:
    yield AnswerStarted(PROVENANCE)
    while True:
        yield from list(cited_answer(request))[4:5]


async def test_a_call_with_one_response_answers_with_a_message_and_trailers() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with reached(answerer) as client:
        response = await call(client, "Answer", QUESTION, headers={"x-request-id": "r-1"})
    assert (response.status_code, response.headers["content-type"]) == (200, BINARY)
    messages, trailers = read(response.content)
    answer = pb.AnswerResponse.FromString(messages[0]).answer
    assert "".join(each.text for each in answer.sentences).strip() == TEXT
    assert (len(messages), trailers) == (1, {"grpc-status": "0"})
    assert response.headers["x-request-id"] == answerer.requests[0].request_id == "r-1"


async def test_events_arrive_while_the_answer_goes_on() -> None:
    answerer = ScriptedAnswerer(cited_answer, delay_s=0.05)
    headers = {"content-type": BINARY}
    async with (
        reached(answerer) as client,
        client.stream(
            "POST", f"{SERVICE}/StreamAnswer", content=framed(QUESTION), headers=headers
        ) as response,
    ):
        chunks: list[bytes] = []
        async for chunk in response.aiter_bytes():
            if not chunks:
                assert not answerer.closed
            chunks.append(chunk)
    messages, trailers = read(b"".join(chunks))
    kinds = [
        pb.StreamAnswerResponse.FromString(each).event.WhichOneof("event") for each in messages
    ]
    assert (kinds[0], kinds[-1]) == ("started", "finished")
    assert len(kinds) == 9
    assert trailers == {"grpc-status": "0"}


@pytest.mark.parametrize("parts", [1, 2])
async def test_text_mode_carries_the_same_frames_as_base64(parts: int) -> None:
    data = framed(QUESTION)
    pieces = [data] if parts == 1 else [data[:7], data[7:]]
    body = b"".join(base64.b64encode(each) for each in pieces)
    async with reached(ScriptedAnswerer(cited_answer)) as client:
        response = await call(client, "StreamAnswer", body, content_type=AS_TEXT)
        wrong = await call(client, "StreamAnswer", b"!!!", content_type=AS_TEXT)
    assert response.headers["content-type"] == AS_TEXT
    # Every frame is padded on its own.
    padded = response.content.replace(b"=A", b"= A").replace(b"=g", b"= g").split()
    messages, trailers = read(b"".join(base64.b64decode(each) for each in padded))
    assert (len(messages), trailers) == (9, {"grpc-status": "0"})
    assert b"grpc-status:3" in base64.b64decode(wrong.content)


async def test_an_error_has_its_details() -> None:
    async with reached(ScriptedAnswerer(cited_answer)) as client:
        response = await call(client, "Answer", pb.AnswerRequest())
    messages, trailers = read(response.content)
    assert (response.status_code, messages, trailers["grpc-status"]) == (200, [], "3")
    info, bad = ErrorInfo(), BadRequest()
    status = status_in(trailers)
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(bad)
    assert (info.domain, info.reason) == ("scaar", "INVALID_REQUEST")
    assert bad.field_violations[0].field == "question"


async def test_an_error_after_events_ends_the_stream_and_keeps_its_text() -> None:
    text = "100 % of “words”,\nthen more"

    def script(request: AnswerRequest) -> Iterator[AnswerEvent | Exception]:
        yield AnswerStarted(PROVENANCE)
        yield InvalidRequest.of("question", text)

    async with reached(ScriptedAnswerer(script)) as client:
        response = await call(client, "StreamAnswer", QUESTION)
    messages, trailers = read(response.content)
    assert (len(messages), trailers["grpc-status"]) == (1, "3")
    assert text in unquote(trailers["grpc-message"])
    assert trailers["grpc-message"].isascii()


async def test_the_deadline_of_the_caller_applies() -> None:
    answerer = ScriptedAnswerer(cited_answer, delay_s=5)
    async with reached(answerer) as client:
        late = await call(client, "Answer", QUESTION, headers={"grpc-timeout": "300m"})
        wrong = await call(client, "Answer", QUESTION, headers={"grpc-timeout": "soon"})
    assert read(late.content)[1]["grpc-status"] == "4"
    assert read(wrong.content)[1]["grpc-status"] == "3"
    assert answerer.requests[0].budget.timeout_s < 0.3


async def test_a_browser_that_leaves_cancels_its_answer() -> None:
    answerer = ScriptedAnswerer(started_only, delay_s=0.01)
    headers = {"content-type": BINARY}
    async with reached(answerer) as client, asyncio.timeout(20):
        async with client.stream(
            "POST", f"{SERVICE}/StreamAnswer", content=framed(QUESTION), headers=headers
        ) as response:
            await anext(response.aiter_bytes())
        while not answerer.closed:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_reader_that_stops_reading_ends_its_answer() -> None:
    yielded = 0

    def script(request: AnswerRequest) -> Iterator[AnswerEvent]:
        nonlocal yielded
        for event in started_only(request):
            yielded += 1
            yield event

    answerer = ScriptedAnswerer(script)
    headers = {"content-type": BINARY}
    async with (
        reached(answerer, write_timeout_s=0.3) as client,
        client.stream(
            "POST", f"{SERVICE}/StreamAnswer", content=framed(QUESTION), headers=headers
        ) as response,
        asyncio.timeout(20),
    ):
        assert response.status_code == 200
        while not answerer.closed:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert yielded


@pytest.mark.parametrize("content_type", [BINARY, AS_TEXT])
async def test_a_large_message_is_rejected_before_it_is_read(content_type: str) -> None:
    def encoded(body: bytes) -> bytes:
        return base64.b64encode(body) if content_type == AS_TEXT else body

    announced = bytes(1) + (MAX_MESSAGE_BYTES + 1).to_bytes(4, "big")
    answerer = ScriptedAnswerer(cited_answer)
    async with reached(answerer) as client:
        for body, status in (
            (announced, "8"),
            (announced + bytes(MAX_MESSAGE_BYTES + 1), "8"),
            (framed(bytes(MAX_MESSAGE_BYTES)), "3"),
        ):
            response = await call(client, "Answer", encoded(body), content_type=content_type)
            trailers = (
                base64.b64decode(response.content) if content_type == AS_TEXT else response.content
            )
            assert read(trailers)[1]["grpc-status"] == status
        limited = await call(client, "Answer", pb.AnswerRequest(question="w " * 200_000))
    assert read(limited.content)[1]["grpc-status"] == "3"
    assert not answerer.opened


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", "3"),
        (framed(QUESTION)[:-1], "3"),
        (framed(QUESTION) + framed(QUESTION), "3"),
        (framed(b"\xff\xff"), "3"),
        (framed(QUESTION, flags=1), "12"),
    ],
)
async def test_a_body_that_is_not_one_message_is_rejected(body: bytes, status: str) -> None:
    async with reached(ScriptedAnswerer(cited_answer)) as client:
        response = await call(client, "Answer", body)
    assert read(response.content)[1]["grpc-status"] == status


async def test_only_methods_of_the_contract_are_forwarded() -> None:
    others = (
        f"{SERVICE}/Forget",
        "/grpc.health.v1.Health/Watch",
    )
    async with reached(ScriptedAnswerer(cited_answer)) as client:
        for path in others:
            response = await call(client, path, b"")
            assert read(response.content)[1]["grpc-status"] == "12", path
        reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
        assert (await call(client, reflection, b"")).status_code == 404
        health = await call(
            client,
            "/grpc.health.v1.Health/Check",
            health_pb2.HealthCheckRequest(service=SERVICE.strip("/")),
        )
        got = await client.get(f"{SERVICE}/Answer")
        other_type = await call(client, "Answer", QUESTION, content_type="application/grpc")
    checked = health_pb2.HealthCheckResponse.FromString(read(health.content)[0][0])
    assert checked.status == health_pb2.HealthCheckResponse.SERVING
    assert (got.status_code, got.headers["allow"], other_type.status_code) == (405, "POST", 415)


async def test_a_gateway_that_requires_tokens_requires_them_of_browsers() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with reached(answerer, require_token=True) as client:
        without = await call(client, "Answer", QUESTION)
        token = {"authorization": "Bearer secret"}
        named = await call(client, "Answer", QUESTION, headers=token)
    trailers = read(without.content)[1]
    assert trailers["grpc-status"] == "16"
    assert "a bearer token is missing" in trailers["grpc-message"]
    assert read(named.content)[1]["grpc-status"] == "0"
    assert answerer.opened == 1


async def test_an_orchestrator_that_is_away_is_unavailable_without_its_address() -> None:
    settings = GatewaySettings(address="127.0.0.1:0", orchestrator_target="dns:///127.0.0.1:9")
    async with open_gateway(settings) as gateway, httpx2.AsyncClient(timeout=20) as client:
        response = await call_at(client, gateway)
    trailers = read(response.content)[1]
    assert trailers["grpc-status"] == "14"
    assert "127.0.0.1" not in trailers["grpc-message"]
    info = ErrorInfo()
    assert status_in(trailers).details[0].Unpack(info)
    assert info.reason == "BACKEND_UNAVAILABLE"


async def call_at(client: httpx2.AsyncClient, url: str) -> httpx2.Response:
    headers = {"content-type": BINARY}
    return await client.post(f"{url}{SERVICE}/Answer", content=framed(QUESTION), headers=headers)


async def test_pages_of_configured_origins_may_call() -> None:
    asked = {
        "origin": ORIGIN,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-grpc-web,grpc-timeout,authorization",
    }
    async with reached(ScriptedAnswerer(cited_answer), allowed_origins=(ORIGIN,)) as client:
        allowed = await client.options(f"{SERVICE}/Answer", headers=asked)
        other = {**asked, "origin": "https://other.example.com"}
        refused = await client.options(f"{SERVICE}/Answer", headers=other)
        answered = await call(client, "Answer", QUESTION, headers={"origin": ORIGIN})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    assert "grpc-timeout" in allowed.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-origin" not in refused.headers
    assert answered.headers["access-control-allow-origin"] == ORIGIN
    exposed = answered.headers["access-control-expose-headers"].lower()
    assert {"grpc-status", "grpc-message", "grpc-status-details-bin", "x-request-id"} <= set(
        exposed.replace(" ", "").split(",")
    )
