"""How an OpenAI-compatible server is asked: for its models, and to continue a text."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from openai import AsyncOpenAI, AsyncStream, OpenAIError
from openai.types import Completion, Model
from openai.types.chat import ChatCompletionChunk

from scaar.core.budget import time_left
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, StreamIncomplete
from scaar.core.types import ContinuationKind, GenerateRequest
from scaar.generator.engines.openai_server.chat_turns import turns_of
from scaar.generator.engines.openai_server.chunks import Chunk, Delta, read_chunk
from scaar.generator.engines.openai_server.client import headers_of
from scaar.generator.engines.openai_server.failures import failure_of
from scaar.generator.engines.openai_server.served import Served
from scaar.generator.engines.served.api_key import ApiKey
from scaar.generator.engines.served.prompt_text import PromptText
from scaar.generator.settings import GeneratorSettings

_Told = TypeVar("_Told")


class OpenAiAsking:
    """The calls to one server; what they end with is one of scaar's conditions.

    The client's own exceptions hold the request, and with it the key: none of them is the cause or
    the context of what is raised here.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        settings: GeneratorSettings,
        prompt_text: PromptText,
        key: ApiKey,
    ) -> None:
        self._client = client
        self._settings = settings
        self._prompt_text = prompt_text
        self._key = key
        self.server = f"the model server at {client.base_url}".rstrip("/")

    async def models(self) -> list[Model]:
        """The models that the server lists; none from one that has no list."""
        left, most = time_left(), self._settings.read_timeout_s
        if left is not None and left <= 0:
            raise DeadlineExceeded("the call's time was used up before the server was asked")
        listing = self._client.models.list(
            extra_headers=headers_of(self._key), timeout=most if left is None else min(most, left)
        )
        page = await self._answered(listing, begun=False)
        if not isinstance(page.data, list) or not all(map(_is_named, page.data)):
            told = f"{self.server} answered with what is no list of models"
            raise BackendUnavailable(told, server=self.server)
        return page.data

    async def stream(self, served: Served, request: GenerateRequest) -> AsyncGenerator[Delta, None]:
        """What the server writes, chunk by chunk, those that say nothing left out.

        Raises:
            BackendUnavailable: it answered with something else.
            StreamIncomplete: it ended without saying why.
        """
        seen = ended = False
        stream = await self._answered(self._opened(served, request), begun=False)
        async with _to_its_end(stream):
            while (chunk := await self._answered(_next(stream), begun=True)) is not None:
                delta, seen = self._read(chunk, request), True
                ended = ended or delta.finish_reason is not None
                if delta != Delta():
                    yield delta
        if not seen:
            told = f"{self.server} answered with what is no stream"
            raise BackendUnavailable(told, server=self.server)
        if not ended:
            told = f"the stream of {self.server} ended before its end"
            raise StreamIncomplete(told, server=self.server)

    async def _opened(
        self, served: Served, request: GenerateRequest
    ) -> AsyncStream[Completion] | AsyncStream[ChatCompletionChunk]:
        dialect, top = served.dialect, max(1, request.top_tokens)
        options: Any = {"include_usage": True, **dialect.usage_as_it_goes}
        if self._settings.openai_api == "completions":
            return await self._client.completions.create(
                model=served.model,
                prompt=self._prompt_text.of(request),
                max_tokens=request.max_tokens,
                temperature=0,
                logprobs=top if served.logprobs else None,
                stream=True,
                stream_options=options,
                extra_headers=headers_of(self._key),
                extra_body=dict(dialect.extras),
            )
        extras = {dialect.max_tokens_of_chat: request.max_tokens, **dialect.extras}
        if request.prefix and dialect.chat is ContinuationKind.NATIVE:
            extras |= dialect.continuing
        if served.logprobs:
            extras |= {"logprobs": True, "top_logprobs": top}
        return await self._client.chat.completions.create(
            model=served.model,
            messages=turns_of(request, dialect.chat),
            temperature=0,
            stream=True,
            stream_options=options,
            extra_headers=headers_of(self._key),
            extra_body=extras,
        )

    def _read(self, chunk: Chunk, request: GenerateRequest) -> Delta:
        try:
            return read_chunk(chunk, top_tokens=request.top_tokens)
        except ValueError as error:
            told = f"{self.server} failed while it wrote: {error}"
            raise BackendUnavailable(told, server=self.server) from None

    async def _answered(self, asking: Awaitable[_Told], *, begun: bool) -> _Told:
        try:
            return await asking
        except OpenAIError as error:
            failed = failure_of(error, self.server, begun=begun)
        except (AttributeError, TypeError, ValueError):
            # The client takes for granted that JSON comes, and an object.
            kind = StreamIncomplete if begun else BackendUnavailable
            failed = kind(f"{self.server} wrote what is not its interface", server=self.server)
        raise failed  # out of the block, so that it has no context


@asynccontextmanager
async def _to_its_end(
    stream: AsyncStream[Completion] | AsyncStream[ChatCompletionChunk],
) -> AsyncIterator[None]:
    """Closes the response with the block, and ends the client's generators that read it.

    Closing alone leaves them to the garbage collector, each in the middle of its work. What they
    have read is still told; then they find the response closed.
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
