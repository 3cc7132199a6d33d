"""The generations of the lab's TGI server: as many as it has room for, streamed or whole."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from aiohttp import web
from tokenizers import Tokenizer

from scaar.core.ports import Generator
from scaar.testing.lab_servers.tgi_failures import Failure, Failures
from scaar.testing.lab_servers.tgi_wire import (
    STATUSES,
    Asked,
    Json,
    Refused,
    check_length,
    event_of,
    read_asked,
)
from scaar.testing.lab_servers.tgi_writing import MIDDLE, Writing

_PAGE = "<html><body>a page of somebody else's</body></html>"


class Generations:
    """``running`` of them are under way; ``asked`` are all that there was room for, in order."""

    def __init__(
        self,
        engine: Generator,
        tokenizer: Tokenizer,
        failures: Failures,
        *,
        most: int,
        max_total_tokens: int,
        keep_alive_s: float,
        slow_s: float,
    ) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._failures = failures
        self._most = most
        self._max_total = max_total_tokens
        self._keep_alive_s = keep_alive_s
        self._slow_s = slow_s
        self._idle, self._busy = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self.running = 0
        self.asked: list[Asked] = []
        self.succeeded = 0
        self.model_changes = 0

    async def until_idle(self) -> None:
        """Returns when none is under way."""
        await self._idle.wait()

    async def until_busy(self) -> None:
        """Returns when one is under way."""
        await self._busy.wait()

    def tokenized(self, payload: Any) -> web.StreamResponse:
        """The tokens of a prompt."""
        if Failure.UNCOUNTED in self._failures:
            return web.Response(status=404, text=_PAGE, content_type="text/html")
        try:
            text = read_asked(payload).inputs
        except Refused as refused:
            return _refusal(refused)
        encoding = self._tokenizer.encode(text)
        return web.json_response(
            [
                {"id": each, "text": text[start:stop], "start": start, "stop": stop}
                for each, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True)
            ]
        )

    async def whole(self, payload: Any, *, listed: bool) -> web.StreamResponse:
        """A generation in one answer; a failure is a status and TGI's JSON."""
        try:
            asked = read_asked(payload)
            with self._room():
                suffered = self._suffered()
                if page := _page(suffered):
                    return page
                async with aclosing(self._written(asked, suffered)) as written:
                    events = [event async for event in written]
        except Refused as refused:
            return _refusal(refused)
        self.succeeded += 1
        text = events[-1]["generated_text"]
        answer: Json = {"generated_text": asked.inputs + text if asked.full_text else text}
        if asked.details:
            tokens = [event["token"] for event in events]
            answer["details"] = {**events[-1]["details"], "prefill": [], "tokens": tokens}
        return web.json_response([answer] if listed else answer)

    async def streamed(self, request: web.Request, payload: Any) -> web.StreamResponse:
        """A generation as a stream; every failure is an event in it, and the status is 200."""
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        try:
            asked = read_asked(payload)
            with self._room():
                suffered = self._suffered()
                if page := _page(suffered):
                    return page
                await response.prepare(request)
                async with aclosing(self._written(asked, suffered)) as events:
                    await self._write(request, response, events, suffered)
        except Refused as refused:
            await response.prepare(request)
            await response.write(event_of(refused.body))
        return response

    async def _write(
        self,
        request: web.Request,
        response: web.StreamResponse,
        events: AsyncGenerator[Json, None],
        suffered: frozenset[Failure],
    ) -> None:
        count = 0
        while (event := await self._next(response, events)) is not None:
            if count == MIDDLE:
                if Failure.TRUNCATED in suffered:
                    return
                if Failure.RESET in suffered and request.transport is not None:
                    request.transport.abort()
                    return
                if Failure.GARBLED_EVENT in suffered:
                    await response.write(b"data:{half an eve\n\n")
            count += 1
            await response.write(event_of(event))
        self.succeeded += 1
        if Failure.DONE in suffered:
            await response.write(b"data: [DONE]\n\n")

    async def _next(
        self, response: web.StreamResponse, events: AsyncGenerator[Json, None]
    ) -> Json | None:
        """The next event, None at the end; comments keep the connection alive until it comes."""
        step = asyncio.ensure_future(anext(events, None))
        try:
            while not (await asyncio.wait([step], timeout=self._keep_alive_s))[0]:
                await response.write(b":\n\n")
            return step.result()
        finally:
            if not step.done():
                step.cancel()
                await asyncio.wait([step])

    def _written(self, asked: Asked, suffered: frozenset[Failure]) -> AsyncGenerator[Json, None]:
        tokens = len(self._tokenizer.encode(asked.inputs).ids)
        check_length(asked, tokens, self._max_total - 1, self._max_total)
        self.asked.append(asked)
        return Writing(
            self._engine, asked, suffered, input_length=tokens, slow_s=self._slow_s
        ).events()

    def _suffered(self) -> frozenset[Failure]:
        suffered = self._failures.of_generation()
        self.model_changes += Failure.MODEL_CHANGED in suffered
        if Failure.OVERLOAD in suffered:
            raise _overloaded()
        return suffered

    @contextmanager
    def _room(self) -> Iterator[None]:
        if self.running >= self._most:
            raise _overloaded()
        self.running += 1
        self._idle.clear()
        self._busy.set()
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()
                self._busy.clear()


async def payload_of(request: web.Request) -> Any:
    """The JSON of a request's body.

    Raises:
        HTTPBadRequest: it is none; the answer is no JSON either.
        HTTPRequestEntityTooLarge: it is longer than the server reads.
    """
    try:
        return json.loads(await request.read())
    except ValueError as error:
        raise web.HTTPBadRequest(
            text=f"Failed to parse the request body as JSON: {error}"
        ) from error


def _refusal(refused: Refused) -> web.Response:
    """The answer that tells of an error where nothing is streamed."""
    return web.json_response(refused.body, status=STATUSES[refused.kind])


def _overloaded() -> Refused:
    return Refused("overloaded", "Model is overloaded")


def _page(suffered: frozenset[Failure]) -> web.Response | None:
    if Failure.UNAVAILABLE in suffered:
        return web.Response(status=503, text=_PAGE, content_type="text/html")
    if Failure.GARBAGE in suffered:
        return web.Response(text=_PAGE, content_type="text/html")
    return None
