"""The client of the package ``text-generation``, with what it lacks for streams in production.

Version 0.7.0 bounds a whole stream by ten seconds, ends silently where a stream is cut off, takes
what it does not know (reasons to finish, ``[DONE]``, errors that are no JSON) for errors of its
own, and connects anew for every request.
"""

import io
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import aiohttp
from pydantic import BaseModel, ValidationError
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


class TgiDetails(StreamDetails):
    """The details of a generation's end, with what the server has and the package leaves out."""

    input_length: int = 0


class TgiEvent(StreamResponse):
    """A token, and with the last one the end."""

    details: TgiDetails | None = None


class ServerInfo(BaseModel):
    """What a server says of itself."""

    model_id: str
    model_sha: str | None = None
    max_input_tokens: int
    max_total_tokens: int
    max_concurrent_requests: int
    version: str = ""


class TgiClient(AsyncClient):
    """Calls of one server over connections that are kept; every failure is one of the core's."""

    def __init__(
        self, url: str, session: aiohttp.ClientSession, *, api_key: ApiKey = lambda: None
    ) -> None:
        super().__init__(url)
        self._session = session
        self._key = api_key

    async def generate_stream(
        self, prompt: str, *_: Any, **parameters: Any
    ) -> AsyncGenerator[TgiEvent, None]:
        """The events of a generation; the last one has the details. Closing it stops the server.

        Raises:
            StreamIncomplete: the stream ended before its last event.
            ScaarError: as :mod:`scaar.generator.engines.tgi_server.errors` has it.
        """
        asked = Request(
            inputs=prompt, stream=True, parameters=Parameters(details=True, **parameters)
        )
        begun = False
        async with aclosing(self._lines("/", asked.model_dump())) as lines:
            async for line in lines:
                event = self._event(line)
                if event is None:
                    continue
                begun = True
                yield event
                if event.details is not None:
                    return
        raise StreamIncomplete(self._cut_off(begun))

    async def info(self) -> ServerInfo:
        """What the server says of itself now."""
        text = await self._whole("GET", "/info")
        try:
            return ServerInfo.model_validate_json(text)
        except ValidationError as error:
            told = f"{self.base_url} tells nothing of a TGI server at /info"
            raise BackendUnavailable(told, server=self.base_url) from error

    async def count_tokens(self, text: str) -> int:
        """How many tokens the text is as a prompt."""
        answer = await self._whole("POST", "/tokenize", {"inputs": text})
        try:
            tokens = json.loads(answer)
        except ValueError:
            tokens = None
        if not isinstance(tokens, list):
            told = f"{self.base_url} does not count tokens at /tokenize"
            raise BackendUnavailable(told, server=self.base_url)
        return len(tokens)

    def _event(self, line: bytes) -> TgiEvent | None:
        """The event of a line; None where it has none: a comment, ``[DONE]``, the space between."""
        field, _, value = line.strip().partition(b":")
        value = value.strip()
        if field != b"data" or value == b"[DONE]":
            return None
        payload: Any = None
        try:
            payload = json.loads(value)
            return TgiEvent.model_validate(payload)
        except ValueError:  # the package's errors of validation are of it
            pass
        if isinstance(payload, dict) and "error" in payload:
            raise error_of_event(payload, self.base_url)
        raise StreamIncomplete(f"{self.base_url} wrote an event that is not understood")

    async def _lines(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """The lines of a stream."""
        failure: ScaarError | None = None
        begun = False
        try:
            async with self._ask("POST", path, body) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                if response.content_type != "text/event-stream":
                    told = f"{self.base_url} answered with {response.content_type}, and no stream"
                    raise BackendUnavailable(told, server=self.base_url)
                async for line in response.content:
                    begun = True
                    yield line
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = self._failure(error, begun=begun)
        # Outside, since some of the library's errors hold the request with its headers, the key
        # among them, and would go along as the context.
        if failure is not None:
            raise failure

    async def _whole(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> str:
        """The body of an answer."""
        failure: ScaarError
        try:
            async with self._ask(method, path, body) as response:
                if response.status != 200:
                    raise await self._refusal(response)
                return (await response.read()).decode(errors="replace")
        except (aiohttp.ClientError, OSError) as error:
            failure = self._failure(error, begun=False)
        raise failure

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> "aiohttp.client._RequestContextManager":
        key = self._key()
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None else {}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = io.BytesIO(json.dumps(body).encode())  # which a long body is sent from in parts
        # A redirect would take the prompt, and the key, elsewhere.
        return self._session.request(
            method, f"{self.base_url}{path}", data=data, headers=headers, allow_redirects=False
        )

    async def _refusal(self, response: aiohttp.ClientResponse) -> ScaarError:
        body = (await response.read()).decode(errors="replace")
        return error_of_response(response.status, response.headers, body, self.base_url)

    def _failure(self, error: Exception, *, begun: bool) -> ScaarError:
        if begun:
            return StreamIncomplete(self._cut_off(begun))
        if (refused := tls_failure(error, self.base_url)) is not None:
            return refused
        told = f"{self.base_url} does not answer: {_reason(error)}"
        return BackendUnavailable(told, server=self.base_url)

    def _cut_off(self, begun: bool) -> str:
        return (
            f"{self.base_url} ended its stream {'before its end' if begun else 'without a token'}"
        )


def _reason(error: Exception) -> str:
    """Why a server is not reached, without what the library puts around it."""
    match error:
        case aiohttp.ClientConnectorError(os_error=OSError(errno=int(number), strerror=text)):
            return os.strerror(number) if number > 0 else str(text)
        case aiohttp.ServerTimeoutError():
            return "no connection was made in time"
    return type(error).__name__
