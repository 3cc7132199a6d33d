"""Client of a TGI server, based on the package ``text-generation``.

Version 0.7.0 of the package limits a whole stream to ten seconds, ends silently if a stream is cut
off, fails on unknown finish reasons, ``[DONE]`` and errors that are not JSON, and opens a
connection for every request.
"""

import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

import aiohttp
from pydantic import BaseModel, TypeAdapter, ValidationError
from text_generation.client import AsyncClient
from text_generation.types import (
    Parameters,
    Request,
    StreamDetails,
    StreamResponse,
)

from scaar.core.errors import BackendUnavailable, ScaarError, StreamIncomplete
from scaar.generator.engines.served.api_key import ApiKey
from scaar.generator.engines.served.tls import tls_failure
from scaar.generator.engines.tgi_server.errors import error_of_event, error_of_response
from scaar.http_client.aiohttp_requests import HttpRequests


class TgiDetails(StreamDetails):
    """The details of a generation's end, with the fields that the package lacks."""

    input_length: int = 0


class TgiEvent(StreamResponse):
    """A token; the last one has the details of the end."""

    details: TgiDetails | None = None


class TgiSpan(BaseModel):
    """A token of a text, with its span in characters."""

    id: int
    start: int
    stop: int


class TgiInputToken(BaseModel):
    """A token of a prompt; the first one has no log-probability."""

    id: int
    logprob: float | None = None


class _PrefillDetails(BaseModel):
    prefill: list[TgiInputToken]


class _Prefill(BaseModel):
    details: _PrefillDetails


_SPANS = TypeAdapter(list[TgiSpan])


class ServerInfo(BaseModel):
    """The server's description of itself."""

    model_id: str
    model_sha: str | None = None
    max_input_tokens: int
    max_total_tokens: int
    max_concurrent_requests: int
    version: str = ""


class TgiClient(AsyncClient):
    """Calls to one server over persistent connections; failures are errors of scaar."""

    def __init__(self, url: str, requests: HttpRequests, *, api_key: ApiKey = lambda: None) -> None:
        super().__init__(url)
        self._requests = requests
        self._key = api_key

    async def generate_stream(
        self, prompt: str, *_: Any, **parameters: Any
    ) -> AsyncGenerator[TgiEvent, None]:
        """Yield the events of a generation; the last one has details. Closing stops the server.

        Raises:
            StreamIncomplete: the stream ended before its last event.
            ScaarError: the server failed; see :mod:`scaar.generator.engines.tgi_server.errors`.
        """
        request = Request(
            inputs=prompt, stream=True, parameters=Parameters(details=True, **parameters)
        )
        started = False
        async with aclosing(self._lines("/", request.model_dump())) as lines:
            async for line in lines:
                event = self._event(line)
                if event is None:
                    continue
                started = True
                yield event
                if event.details is not None:
                    return
        raise StreamIncomplete(self._cut_off(started))

    async def info(self) -> ServerInfo:
        """Return the server's description of itself."""
        text = await self._whole("GET", "/info")
        try:
            return ServerInfo.model_validate_json(text)
        except ValidationError as error:
            description = f"{self.base_url} is not a TGI server: /info has another format"
            raise BackendUnavailable(description, server=self.base_url) from error

    async def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a prompt."""
        return len(await self.tokenize(text))

    async def tokenize(self, text: str) -> list[TgiSpan]:
        """Return the tokens of a text, including the special ones that the server adds."""
        answer = await self._whole("POST", "/tokenize", {"inputs": text})
        try:
            return _SPANS.validate_json(answer)
        except ValidationError as error:
            description = f"{self.base_url} does not return tokens at /tokenize"
            raise BackendUnavailable(description, server=self.base_url) from error

    async def prefill(self, text: str) -> list[TgiInputToken]:
        """Return the tokens of a text with their log-probabilities."""
        parameters = {"decoder_input_details": True, "max_new_tokens": 1}
        answer = await self._whole("POST", "/generate", {"inputs": text, "parameters": parameters})
        try:
            return _Prefill.model_validate_json(answer).details.prefill
        except ValidationError as error:
            description = f"{self.base_url} does not return the log-probabilities of a prompt"
            raise BackendUnavailable(description, server=self.base_url) from error

    def _event(self, line: bytes) -> TgiEvent | None:
        """Return the event of a line; None for comments, ``[DONE]`` and empty lines."""
        field, _, value = line.strip().partition(b":")
        value = value.strip()
        if field != b"data" or value == b"[DONE]":
            return None
        payload: Any = None
        try:
            payload = json.loads(value)
            return TgiEvent.model_validate(payload)
        except ValueError:  # includes validation errors
            pass
        if isinstance(payload, dict) and "error" in payload:
            raise error_of_event(payload, self.base_url)
        raise StreamIncomplete(f"{self.base_url} sent an invalid event")

    async def _lines(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a stream."""
        failure: ScaarError | None = None
        started = False
        try:
            async with self._ask("POST", path, body) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                if response.content_type != "text/event-stream":
                    description = (
                        f"{self.base_url} returned {response.content_type} instead of a stream"
                    )
                    raise BackendUnavailable(description, server=self.base_url)
                async for line in response.content:
                    started = True
                    yield line
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = self._failure(error, started=started)
        # Raised outside the except block: some of the library's errors hold the request with the
        # key in its headers, and would become the context.
        if failure is not None:
            raise failure

    async def _whole(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> str:
        """Return the body of a response."""
        failure: ScaarError
        try:
            async with self._ask(method, path, body) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                return (await response.read()).decode(errors="replace")
        except (aiohttp.ClientError, OSError) as error:
            failure = self._failure(error, started=False)
        raise failure

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        key = self._key()
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        return self._requests.response(method, f"{self.base_url}{path}", data=data, headers=headers)

    async def _refusal(self, response: aiohttp.ClientResponse) -> ScaarError:
        body = (await response.read()).decode(errors="replace")
        return error_of_response(response.status, response.headers, body, self.base_url)

    def _failure(self, error: Exception, *, started: bool) -> ScaarError:
        if started:
            return StreamIncomplete(self._cut_off(started))
        if (refused := tls_failure(error, self.base_url)) is not None:
            return refused
        description = f"{self.base_url} does not answer: {_reason(error)}"
        return BackendUnavailable(description, server=self.base_url)

    def _cut_off(self, started: bool) -> str:
        when = "before its end" if started else "without a token"
        return f"{self.base_url} closed the stream {when}"


def _reason(error: Exception) -> str:
    """Return why a server cannot be reached, without the library's decoration."""
    match error:
        case aiohttp.ClientConnectorError(os_error=OSError(errno=int(number), strerror=text)):
            return os.strerror(number) if number > 0 else str(text)
        case aiohttp.ServerTimeoutError():
            return "connecting timed out"
    return type(error).__name__
