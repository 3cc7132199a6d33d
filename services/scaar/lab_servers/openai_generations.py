"""Generations of the lab's OpenAI-compatible server."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from itertools import chain

from aiohttp import web
from tokenizers import Tokenizer

from scaar.core.ports import Generator
from scaar.generator.engines.openai_server.dialects import Dialect
from scaar.lab_servers.generations import (
    RunningGenerations,
    breaks_off,
    new_stream,
    proxy_page,
)
from scaar.lab_servers.openai_failures import Failure, Failures
from scaar.lab_servers.openai_layouts import Layout
from scaar.lab_servers.openai_stream import MIDDLE, ChunkStream
from scaar.lab_servers.openai_wire import GenerationRequest, Json, Rejected, parse_request, too_long

_DONE = b"data: [DONE]\n\n"


class Generations(RunningGenerations):
    """Generations of the server; ``accepted`` are the admitted requests, in order.

    ``requests`` counts all requests, ``ended`` the streams that reached their end.
    """

    def __init__(
        self,
        engine: Generator,
        tokenizer: Tokenizer,
        failures: Failures,
        *,
        dialect: Dialect,
        model: str,
        limit: int,
        max_total_tokens: int,
        slow_s: float,
    ) -> None:
        super().__init__(limit, _overloaded)
        self._engine = engine
        self._tokenizer = tokenizer
        self._dialect = dialect
        self._model = model
        self._max_total = max_total_tokens
        self._slow_s = slow_s
        self.failures = failures
        self.requests = 0
        self.ended = 0
        self.accepted: list[GenerationRequest] = []

    async def answered(self, request: web.Request, *, chat: bool) -> web.StreamResponse:
        """Return a generation, streamed or whole; earlier errors are an HTTP status."""
        self.requests += 1
        try:
            try:
                payload = json.loads(await request.read())
            except ValueError:
                raise Rejected(400, "the body is no JSON") from None
            spec = parse_request(payload, self._dialect, model=self._model, chat=chat)
            with self.slot():
                failures = self._next_failures(spec)
                if page := proxy_page(failures):
                    return page
                stream = self._stream(spec, failures)
                async with aclosing(stream.chunks()) as chunks:
                    if spec.stream:
                        return await self._streamed(request, chunks, failures)
                    return web.json_response(_whole([chunk async for chunk in chunks], chat=chat))
        except Rejected as rejected:
            headers = {"Retry-After": "2"} if rejected.status == 429 else None
            body = rejected.body(self._dialect.name)
            return web.json_response(body, status=rejected.status, headers=headers)

    async def _streamed(
        self,
        request: web.Request,
        chunks: AsyncGenerator[Json, None],
        failures: frozenset[Failure],
    ) -> web.StreamResponse:
        first = await anext(chunks)
        response = new_stream()
        await response.prepare(request)
        await response.write(_event(first))
        count = 1
        async for chunk in chunks:
            if count == MIDDLE:
                if await breaks_off(request, response, failures):
                    return response
                if Failure.ERROR_EVENT in failures:
                    failed = Rejected(500, "EngineCore encountered an issue.").body("vllm")
                    await response.write(_event(failed) + _DONE)
                    return response
            count += 1
            await response.write(_event(chunk))
        self.ended += 1
        await response.write(_DONE)
        return response

    def _stream(self, spec: GenerationRequest, failures: frozenset[Failure]) -> ChunkStream:
        read = len(self._tokenizer.encode(spec.prompt + spec.prefix).ids)
        if self._dialect.name == "llama_cpp" and read < self._max_total:
            # It ends the text when the context is full; other servers reject the request.
            spec = replace(spec, max_tokens=min(spec.max_tokens, self._max_total - read))
        if read + spec.max_tokens > self._max_total:
            raise too_long(self._dialect.name, self._max_total, read, spec.max_tokens)
        self.accepted.append(spec)
        logprobs = spec.logprobs and Failure.NO_LOGPROBS not in failures
        layout = Layout(self._dialect, self._model, chat=spec.chat, logprobs=logprobs)
        return ChunkStream(
            self._engine,
            spec,
            layout,
            failures,
            prompt_tokens=read,
            slow_s=self._slow_s,
        )

    def _next_failures(self, spec: GenerationRequest) -> frozenset[Failure]:
        failures = self.failures.of_generation()
        if Failure.OVERLOAD in failures:
            raise _overloaded()
        if Failure.INTERNAL in failures:
            raise Rejected(500, "EngineCore encountered an issue.")
        if Failure.REFUSED_LOGPROBS in failures and spec.logprobs:
            code = "unsupported_parameter"
            raise Rejected(400, "Unsupported parameter: 'logprobs'", code=code)
        if Failure.REFUSED_SYSTEM in failures and spec.system:
            raise Rejected(400, "System role not supported")
        thinks = {Failure.THINKS, Failure.THINKS_ALWAYS} & failures
        if self._dialect.name == "openai" and "reasoning_effort" in spec.fields and not thinks:
            raise Rejected(400, "Unrecognized request argument supplied: reasoning_effort")
        return failures


def _overloaded() -> Rejected:
    return Rejected(429, "Rate limit reached", code="rate_limit_exceeded")


def _event(event: Json) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def _whole(chunks: list[Json], *, chat: bool) -> Json:
    """Return the response of a generation that is not streamed."""
    choices = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    entries = [choice["logprobs"] for choice in choices if choice["logprobs"]]
    names = entries[0] if entries else {}
    logprobs = {name: list(chain(*(each[name] for each in entries))) for name in names}
    choice: Json = {
        "index": 0,
        "finish_reason": choices[-1]["finish_reason"],
        "logprobs": logprobs or None,
    }
    if chat:
        text = "".join(each["delta"].get("content", "") for each in choices)
        choice["message"] = {"role": "assistant", "content": text}
    else:
        choice["text"] = "".join(each["text"] for each in choices)
    kind = "chat.completion" if chat else "text_completion"
    return {**chunks[-1], "object": kind, "choices": [choice]}
