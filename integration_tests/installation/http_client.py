"""Requests to gateways, with the standard library alone."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from .access import Access
from .client import PATIENCE_S
from .load import CLIENTS, QUESTIONS, Answered

CHAT = "/v1/chat/completions"
_READY_S = 5.0
_DATA = "data: "


@dataclass(frozen=True, slots=True)
class Response:
    """A response of a gateway."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    text: str

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.text)
        return found

    def events(self) -> list[dict[str, Any]]:
        """Return the chunks of a stream, which must be complete."""
        *data, last = [
            line.removeprefix(_DATA) for line in self.text.split("\n") if line.startswith(_DATA)
        ]
        assert last == "[DONE]"
        return [json.loads(each) for each in data]


def is_ready(url: str, ca: Path | None) -> bool:
    """Return whether the gateway at a URL is ready, which one that stops is not."""
    try:
        with _opener(ca).open(f"{url}/readyz", timeout=_READY_S) as response:
            return bool(response.status == HTTPStatus.OK)
    except (OSError, HTTPException):
        return False


def send(
    access: Access,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    token: str | None = None,
    urls: tuple[str, ...] | None = None,
) -> Response:
    """Send a request to the first gateway that is ready, as a balancer does.

    ``token`` replaces that of the access; the empty one is not sent. ``urls`` replace those of the
    gateways.

    Raises:
        OSError: the connection failed, or ended in the middle of the response.
    """
    choices = access.gateways if urls is None else urls
    url = next((each for each in choices if is_ready(each, access.ca)), None)
    if url is None:
        raise ConnectionError(f"none of {', '.join(choices)} is ready")
    given = access.token if token is None else token
    headers = {"content-type": "application/json"}
    if given:
        headers["authorization"] = f"Bearer {given}"
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"{url}{path}", data, headers)
    try:
        with _opener(access.ca).open(request, timeout=PATIENCE_S) as response:
            return _response(response.status, response)
    except HTTPError as error:
        return _response(error.code, error)
    except HTTPException as error:
        raise ConnectionError(f"{url}{path}: {error!r}") from error


def chat(access: Access, policy: str = "scaar", **fields: Any) -> dict[str, Any]:
    """Return the body of a chat with the installation's question."""
    messages = [{"role": "user", "content": access.question}]
    return {"model": f"{policy_model(policy)}@{access.index}", "messages": messages, **fields}


def policy_model(policy: str) -> str:
    """Return the model of a policy."""
    return f"scaar/{policy}"


@dataclass(slots=True)
class HttpLoad(Answered):
    """Results of the requests so far."""

    failed: list[str] = field(default_factory=list)


@asynccontextmanager
async def requests(access: Access, *, clients: int = CLIENTS) -> AsyncIterator[HttpLoad]:
    """Send chats until the block ends, every second one as a stream; no request is repeated."""
    load, ending = HttpLoad(), asyncio.Event()

    async def client(number: int) -> None:
        while not ending.is_set():
            number += 1
            streamed = number % 2 == 0
            body = chat(access, stream=streamed)
            body["messages"][0]["content"] = QUESTIONS[number % len(QUESTIONS)]
            try:
                response = await asyncio.to_thread(send, access, CHAT, body)
                if response.status != HTTPStatus.OK:
                    load.failed.append(f"{response.status} {response.text}")
                elif streamed and not response.text.rstrip().endswith("[DONE]"):
                    load.failed.append(f"incomplete: {response.text[-200:]}")
            except OSError as error:
                load.failed.append(repr(error))
            load.answered += 1

    async with asyncio.TaskGroup() as tasks:
        for number in range(clients):
            tasks.create_task(client(number))
        await load.goes_on(2 * clients)
        try:
            yield load
            await load.goes_on(2 * clients)
        finally:
            ending.set()


def _opener(ca: Path | None) -> OpenerDirector:
    context = ssl.create_default_context(cafile=ca)
    return build_opener(ProxyHandler({}), HTTPSHandler(context=context))


def _response(status: int, body: Any) -> Response:
    headers = {name.lower(): value for name, value in body.headers.items()}
    return Response(status, headers, body.read().decode())
