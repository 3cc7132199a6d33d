"""Generations of the lab's TGI server, streamed or whole."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from aiohttp import web
from tokenizers import Tokenizer

from scaar.core.ports import Generator
from scaar.core.types import LogprobsRequest
from scaar.lab_servers.generations import (
    PAGE,
    RunningGenerations,
    breaks_off,
    new_stream,
    proxy_page,
)
from scaar.lab_servers.tgi_failures import Failure, Failures
from scaar.lab_servers.tgi_stream import MIDDLE, EventStream
from scaar.lab_servers.tgi_wire import (
    STATUSES,
    GenerationRequest,
    Json,
    Rejected,
    check_length,
    event_of,
    parse_request,
)


class Generations(RunningGenerations):
    """Generations of the server; ``accepted`` are the admitted requests, in order."""

    def __init__(
        self,
        engine: Generator,
        tokenizer: Tokenizer,
        failures: Failures,
        *,
        limit: int,
        max_total_tokens: int,
        keep_alive_s: float,
        slow_s: float,
    ) -> None:
        super().__init__(limit, _overloaded)
        self._engine = engine
        self._tokenizer = tokenizer
        self._failures = failures
        self._max_total = max_total_tokens
        self._keep_alive_s = keep_alive_s
        self._slow_s = slow_s
        self.accepted: list[GenerationRequest] = []
        self.succeeded = 0
        self.model_changes = 0

    def tokenized(self, payload: Any) -> web.StreamResponse:
        """Return the tokens of a prompt."""
        if Failure.UNCOUNTED in self._failures:
            return web.Response(status=404, text=PAGE, content_type="text/html")
        try:
            text = parse_request(payload).inputs
        except Rejected as rejected:
            return _refusal(rejected)
        encoding = self._tokenizer.encode(text)
        return web.json_response(
            [
                {"id": each, "text": text[start:stop], "start": start, "stop": stop}
                for each, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True)
            ]
        )

    async def whole(self, payload: Any, *, listed: bool) -> web.StreamResponse:
        """Return a whole generation; a failure is a status with TGI's JSON."""
        try:
            spec = parse_request(payload)
            with self.slot():
                failures = self._next_failures()
                if page := proxy_page(failures):
                    return page
                async with aclosing(self._events(spec, failures)) as stream:
                    events = [event async for event in stream]
                prefill = await self._prefill(spec) if spec.prefill else []
        except Rejected as rejected:
            return _refusal(rejected)
        self.succeeded += 1
        text = events[-1]["generated_text"]
        answer: Json = {"generated_text": spec.inputs + text if spec.full_text else text}
        if spec.details or spec.prefill:
            tokens = [event["token"] for event in events]
            answer["details"] = {**events[-1]["details"], "prefill": prefill, "tokens": tokens}
        return web.json_response([answer] if listed else answer)

    async def _prefill(self, spec: GenerationRequest) -> list[Json]:
        """Return the tokens of the input, special ones included, with their log-probabilities."""
        ids = self._tokenizer.encode(spec.inputs).ids
        found = await self._engine.compute_logprobs(LogprobsRequest("", spec.inputs))
        special = [
            {"id": each, "text": self._tokenizer.id_to_token(each), "logprob": None}
            for each in ids[: found.prompt_tokens]
        ]
        return special + [
            {"id": each.id, "text": each.text, "logprob": each.logprob} for each in found.tokens
        ]

    async def streamed(self, request: web.Request, payload: Any) -> web.StreamResponse:
        """Return a generation as a stream; the status is 200, and failures are events."""
        response = new_stream()
        try:
            spec = parse_request(payload)
            with self.slot():
                failures = self._next_failures()
                if page := proxy_page(failures):
                    return page
                await response.prepare(request)
                async with aclosing(self._events(spec, failures)) as events:
                    await self._write(request, response, events, failures)
        except Rejected as rejected:
            await response.prepare(request)
            await response.write(event_of(rejected.body))
        return response

    async def _write(
        self,
        request: web.Request,
        response: web.StreamResponse,
        events: AsyncGenerator[Json, None],
        failures: frozenset[Failure],
    ) -> None:
        count = 0
        while (event := await self._next(response, events)) is not None:
            if count == MIDDLE and await breaks_off(request, response, failures):
                return
            count += 1
            # Counted before the write: the client may disconnect once it has the last event.
            self.succeeded += event["details"] is not None
            await response.write(event_of(event))
        if Failure.DONE in failures:
            await response.write(b"data: [DONE]\n\n")

    async def _next(
        self, response: web.StreamResponse, events: AsyncGenerator[Json, None]
    ) -> Json | None:
        """Return the next event, None at the end. Comments keep the connection alive meanwhile."""
        step = asyncio.ensure_future(anext(events, None))
        try:
            while not (await asyncio.wait([step], timeout=self._keep_alive_s))[0]:
                await response.write(b":\n\n")
            return step.result()
        finally:
            if not step.done():
                step.cancel()
                await asyncio.wait([step])

    def _events(
        self, spec: GenerationRequest, failures: frozenset[Failure]
    ) -> AsyncGenerator[Json, None]:
        tokens = len(self._tokenizer.encode(spec.inputs).ids)
        check_length(spec, tokens, self._max_total - 1, self._max_total)
        self.accepted.append(spec)
        return EventStream(
            self._engine, spec, failures, input_length=tokens, slow_s=self._slow_s
        ).events()

    def _next_failures(self) -> frozenset[Failure]:
        failures = self._failures.of_generation()
        self.model_changes += Failure.MODEL_CHANGED in failures
        if Failure.OVERLOAD in failures:
            raise _overloaded()
        return failures


async def payload_of(request: web.Request) -> Any:
    """Return the JSON body of a request.

    Raises:
        HTTPBadRequest: the body is not JSON; the response is not JSON either.
        HTTPRequestEntityTooLarge: the body exceeds the maximum size.
    """
    try:
        return json.loads(await request.read())
    except ValueError as error:
        raise web.HTTPBadRequest(
            text=f"Failed to parse the request body as JSON: {error}"
        ) from error


def _refusal(rejected: Rejected) -> web.Response:
    """Return the response of an error that is not streamed."""
    return web.json_response(rejected.body, status=STATUSES[rejected.kind])


def _overloaded() -> Rejected:
    return Rejected("overloaded", "Model is overloaded")
