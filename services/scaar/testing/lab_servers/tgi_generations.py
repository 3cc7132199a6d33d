"""The generations of the lab's TGI server: as many as it has room for, streamed or whole."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from aiohttp import web
from tokenizers import Tokenizer

from scaar.core.ports import Generator
from scaar.testing.lab_servers.running import (
    PAGE,
    RunningGenerations,
    ends_in_the_middle,
    new_stream,
    page_of,
)
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


class Generations(RunningGenerations):
    """``asked`` are all that there was room for, in order."""

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
        super().__init__(most, _overloaded)
        self._engine = engine
        self._tokenizer = tokenizer
        self._failures = failures
        self._max_total = max_total_tokens
        self._keep_alive_s = keep_alive_s
        self._slow_s = slow_s
        self.asked: list[Asked] = []
        self.succeeded = 0
        self.model_changes = 0

    def tokenized(self, payload: Any) -> web.StreamResponse:
        """The tokens of a prompt."""
        if Failure.UNCOUNTED in self._failures:
            return web.Response(status=404, text=PAGE, content_type="text/html")
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
            with self.room():
                suffered = self._suffered()
                if page := page_of(suffered):
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
        response = new_stream()
        try:
            asked = read_asked(payload)
            with self.room():
                suffered = self._suffered()
                if page := page_of(suffered):
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
            if count == MIDDLE and await ends_in_the_middle(request, response, suffered):
                return
            count += 1
            # Before it is written: whoever has the last event may leave.
            self.succeeded += event["details"] is not None
            await response.write(event_of(event))
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
