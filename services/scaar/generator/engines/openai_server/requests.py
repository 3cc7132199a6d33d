"""Requests to an OpenAI-compatible server."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from openai import AsyncOpenAI, AsyncStream, OpenAIError, omit
from openai.types import Completion, Model
from openai.types.chat import ChatCompletionChunk

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    StreamIncomplete,
)
from scaar.core.loop.budget import remaining_time_s
from scaar.core.types import ContinuationKind, GenerateRequest, LogprobsRequest
from scaar.generator.engines.chat_templates.files import ChatTemplate
from scaar.generator.engines.openai_server.answer_slots import ANY_SLOT, Slot
from scaar.generator.engines.openai_server.chat import turns_of
from scaar.generator.engines.openai_server.chunks import Chunk, Delta, read_chunk
from scaar.generator.engines.openai_server.client import headers_of
from scaar.generator.engines.openai_server.failures import failure_of
from scaar.generator.engines.openai_server.reported_template import reported_template
from scaar.generator.engines.openai_server.served_model import ServedModel
from scaar.generator.engines.served.api_key import ApiKey
from scaar.generator.engines.served.silence import BETWEEN_TOKENS_S
from scaar.generator.settings import GeneratorSettings

_Result = TypeVar("_Result")


class OpenAiCalls:
    """Calls to one server; failures are errors of scaar.

    The client's exceptions hold the request, including the key, so they are neither the cause nor
    the context of the errors raised here.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        settings: GeneratorSettings,
        key: ApiKey,
        *,
        server: str | None = None,
    ) -> None:
        """``server`` names the server in errors; by default its URL does."""
        self._client = client
        self._settings = settings
        self._key = key
        self._answer_s = settings.read_timeout_s or BETWEEN_TOKENS_S
        """Time for a response that needs no model."""
        self.server = server or f"the model server at {client.base_url}".rstrip("/")

    async def models(self) -> list[Model]:
        """Return the server's list of models."""
        remaining, limit = remaining_time_s(), self._answer_s
        if remaining is not None and remaining <= 0:
            raise DeadlineExceeded("the deadline passed before the request to the model server")
        listing = self._client.models.list(
            extra_headers=headers_of(self._key),
            timeout=limit if remaining is None else min(limit, remaining),
        )
        page = await self._answered(listing, started=False)
        if not isinstance(page.data, list) or not all(map(_is_named, page.data)):
            description = f"{self.server} did not return a list of models"
            raise BackendUnavailable(description, server=self.server)
        return page.data

    async def slots(self) -> int:
        """Return the number of slots of a llama.cpp server; 0 if it does not report one."""
        try:
            properties = await self._own("GET", "/props")
        except (NotFound, CapabilityMissing, InvalidRequest):
            return 0
        count = properties.get("total_slots") if isinstance(properties, Mapping) else None
        return count if isinstance(count, int) and count > 0 else 0

    async def chat_template(self) -> ChatTemplate | None:
        """Return the template that a llama.cpp server reports for its model; None without one."""
        try:
            properties = await self._own("GET", "/props")
            tokens = await self._own("POST", "/tokenize", {"content": "", "add_special": True})
        except (NotFound, CapabilityMissing, InvalidRequest):
            return None
        return reported_template(properties, tokens)

    async def _own(self, method: str, path: str, body: object = None) -> object:
        """Return the response of a path that the OpenAI API does not have."""
        url = str(self._client.base_url).rstrip("/").removesuffix("/v1") + path
        options: Any = {
            "headers": headers_of(self._key),
            "timeout": self._answer_s,
        }
        if method == "GET":
            asking = self._client.get(url, cast_to=object, options=options)
        else:
            asking = self._client.post(url, cast_to=object, body=body, options=options)
        return await self._answered(asking, started=False)

    async def stream(
        self, served: ServedModel, request: GenerateRequest, slot: Slot = ANY_SLOT
    ) -> AsyncGenerator[Delta, None]:
        """Yield the deltas of a generation, without empty ones; ``slot`` is that of the call.

        Raises:
            BackendUnavailable: the response is not a stream.
            StreamIncomplete: the stream ended without a finish reason.
        """
        seen = ended = False
        stream = await self._answered(self._opened(served, request, slot), started=False)
        async with _to_its_end(stream):
            while (chunk := await self._answered(_next(stream), started=True)) is not None:
                delta, seen = self._read(chunk, request), True
                ended = ended or delta.finish_reason is not None
                if delta != Delta():
                    yield delta
        if not seen:
            description = f"{self.server} did not return a stream"
            raise BackendUnavailable(description, server=self.server)
        if not ended:
            description = f"{self.server} closed the stream before its end"
            raise StreamIncomplete(description, server=self.server)

    async def _opened(
        self, served: ServedModel, request: GenerateRequest, slot: Slot
    ) -> AsyncStream[Completion] | AsyncStream[ChatCompletionChunk]:
        dialect, top = served.dialect, max(1, request.top_tokens)
        options: Any = {"include_usage": True, **dialect.continuous_usage}
        extras = {**dialect.extras, **(dialect.sampling if request.temperature else {})}
        if dialect.slots:
            extras |= {"cache_prompt": slot.reuse}
            if slot.number is not None:
                extras |= {"id_slot": slot.number}
        if not served.prompting.chats:
            return await self._client.completions.create(
                model=served.model,
                prompt=served.prompting.text.of(request),
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                seed=omit if request.seed is None else request.seed,
                logprobs=top if served.logprobs else None,
                stream=True,
                stream_options=options,
                extra_headers=headers_of(self._key),
                extra_body=extras,
            )
        extras |= {dialect.max_tokens_of_chat: request.max_tokens}
        if request.prefix and dialect.chat is ContinuationKind.NATIVE:
            extras |= dialect.continuing
        if served.thinking_off:
            extras |= dialect.thinking_off
        if served.logprobs:
            extras |= {"logprobs": True, "top_logprobs": top}
        return await self._client.chat.completions.create(
            model=served.model,
            messages=turns_of(request, dialect.chat, system_turn=served.system_turn),
            temperature=request.temperature,
            seed=omit if request.seed is None else request.seed,
            stream=True,
            stream_options=options,
            extra_headers=headers_of(self._key),
            extra_body=extras,
        )

    async def echo(
        self, served: ServedModel, request: LogprobsRequest
    ) -> tuple[str, int, Completion]:
        """Return prompt and text as one, the start of the text, and the completion that echoes it.

        The server generates one token more, since not every server accepts none.
        """
        before = GenerateRequest(request.prompt, system=request.system)
        prompt_text = served.prompting.text
        whole = prompt_text.of(replace(before, prefix=request.text))
        asking = self._client.completions.create(
            model=served.model,
            prompt=whole,
            max_tokens=1,
            temperature=0,
            echo=True,
            logprobs=max(1, request.top_tokens),
            extra_headers=headers_of(self._key),
            extra_body=dict(served.dialect.extras),
        )
        completion = await self._answered(asking, started=False)
        return whole, len(prompt_text.of(before)), completion

    def _read(self, chunk: Chunk, request: GenerateRequest) -> Delta:
        try:
            return read_chunk(chunk, top_tokens=request.top_tokens)
        except ValueError as error:
            description = f"{self.server} sent an invalid chunk: {error}"
            raise BackendUnavailable(description, server=self.server) from None

    async def _answered(self, asking: Awaitable[_Result], *, started: bool) -> _Result:
        try:
            return await asking
        except OpenAIError as error:
            failed = failure_of(error, self.server, started=started)
        except (AttributeError, TypeError, ValueError):
            # The client assumes that the response is a JSON object.
            kind = StreamIncomplete if started else BackendUnavailable
            failed = kind(f"{self.server} sent an invalid response", server=self.server)
        raise failed  # outside the except block, so that it has no context


@asynccontextmanager
async def _to_its_end(
    stream: AsyncStream[Completion] | AsyncStream[ChatCompletionChunk],
) -> AsyncIterator[None]:
    """Close the response with the block and exhaust the client's generators that read it.

    Closing alone would leave the suspended generators to the garbage collector.
    """
    try:
        yield
    finally:
        await stream.close()
        with suppress(Exception):
            while await _next(stream) is not None:
                pass


async def _next(
    stream: AsyncStream[Completion] | AsyncStream[ChatCompletionChunk],
) -> Chunk | None:
    try:
        return await anext(stream)
    except StopAsyncIteration:
        return None


def _is_named(model: object) -> bool:
    return isinstance(model, Model) and isinstance(model.id, str)
