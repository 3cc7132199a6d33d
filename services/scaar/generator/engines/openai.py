"""Engine ``openai``: an OpenAI-compatible server, such as vLLM, SGLang, llama.cpp or OpenAI."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    PromptTooLong,
)
from scaar.core.types import (
    AttendRequest,
    Attention,
    Capability,
    ContinuationKind,
    FinishReason,
    GenerateRequest,
    GenerationEvent,
    GenerationStart,
    LogprobKind,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
)
from scaar.generator.call_slots import CallSlots
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.openai_server.client import open_client
from scaar.generator.engines.openai_server.failures import NoRoom
from scaar.generator.engines.openai_server.requests import OpenAiCalls
from scaar.generator.engines.openai_server.served_model import ServedModel, select_model
from scaar.generator.engines.openai_server.text_logprobs import text_logprobs
from scaar.generator.engines.openai_server.token_stream import OpenAiTokenStream
from scaar.generator.engines.served.api_key import read_api_key
from scaar.generator.engines.served.prompt_text import read_prompt_text
from scaar.generator.engines.served.stream import served_answer, served_stream
from scaar.generator.engines.served.text import ANY_VOCABULARY
from scaar.generator.engines.served.tls import read_tls
from scaar.generator.samples import each_sample
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import (
    MAX_TOP_TOKENS,
    check_attend,
    check_generate,
    check_logprob_count,
    check_logprobs,
)

_PROBE = GenerateRequest("Once upon a", max_tokens=1)


@asynccontextmanager
async def open_openai_generator(
    settings: GeneratorSettings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncIterator["OpenAiGenerator"]:
    """Open the generator over the server at ``url``; see :func:`open_generator`.

    ``sleep`` waits between attempts.
    """
    key, tls = await read_api_key(settings), await read_tls(settings)
    prompt_text = await read_prompt_text(settings)
    async with open_client(settings, tls) as client:
        calls = OpenAiCalls(client, settings, prompt_text, key)
        generator = OpenAiGenerator(calls, settings, sleep=sleep)
        await generator.describe_model()
        yield generator


class OpenAiGenerator:
    """A :class:`~scaar.core.ports.Generator` over an OpenAI-compatible server.

    Every description requests the server's list of models. Whether a model gives log-probabilities
    is detected by generating one token, once for each model.
    """

    def __init__(
        self,
        calls: OpenAiCalls,
        settings: GeneratorSettings,
        *,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._calls = calls
        self._settings = settings
        self._sleep = sleep
        self._slots = CallSlots(settings.max_concurrent)
        self._served: ServedModel | None = None

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the number of prompt tokens if the server reports it, the tokens, then the end.

        Closing the stream closes the server's response and ends its work.

        Raises:
            InvalidRequest: naming every invalid field, before any work.
            Overloaded: the limit of concurrent generations, here or on the server, is reached.
        """
        served = self._served or await self._serve()
        check_generate(
            request,
            vocabulary=ANY_VOCABULARY,
            max_top_tokens=self._max_top_tokens(served),
            capabilities=self._capabilities(served),
        )
        with self._slots.slot():
            samples = each_sample(request, lambda one: self._continue(served, one))
            async with aclosing(samples) as events:
                async for event in events:
                    yield event

    async def _continue(
        self, served: ServedModel, request: GenerateRequest
    ) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the events of a single sample."""
        restated = self._continuation(served) is ContinuationKind.RESTATED
        echoed = served.dialect.echoes and self._settings.openai_api == "chat"
        writing = OpenAiTokenStream(request, restated=restated, echoed=echoed)
        deltas = self._tried(lambda: self._deltas(served, request))
        started = False
        async with aclosing(deltas):
            async for delta in deltas:
                tokens = writing.feed(delta)
                if not started and delta.prompt_tokens:
                    yield GenerationStart(writing.prompt_tokens)
                started = started or bool(tokens or delta.prompt_tokens)
                for token in tokens:
                    yield token
                if writing.finished is FinishReason.STOP:
                    break
        yield writing.end()

    async def attend(self, request: AttendRequest) -> Attention:
        check_attend(request, vocabulary=ANY_VOCABULARY)
        raise CapabilityMissing("engine openai gives no attention: its servers do not report any")

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        served = self._served or await self._serve()
        check_logprobs(
            request,
            vocabulary=ANY_VOCABULARY,
            max_top_tokens=self._max_top_tokens(served),
            capabilities=self._capabilities(served),
        )
        with self._slots.slot():
            text, start, completion = await served_answer(
                lambda: self._calls.echo(served, request),
                server=self._calls.server,
                silence_s=self._settings.read_timeout_s,
                sleep=self._sleep,
            )
        try:
            found = text_logprobs(completion, text, start=start, top_tokens=request.top_tokens)
        except ValueError as error:
            description = f"{self._calls.server} sent an invalid response: {error}"
            raise BackendUnavailable(description, server=self._calls.server) from None
        check_logprob_count(request, len(found.tokens))
        return found

    async def describe_model(self) -> ModelDescription:
        served = await self._serve()
        kind = self._settings.logprob_kind
        return ModelDescription(
            model=served.model,
            revision="unknown",
            engine="openai",
            logprob_kind=served.dialect.logprob_kind if kind == "auto" else LogprobKind(kind),
            capabilities=self._capabilities(served),
            max_total_tokens=served.max_total_tokens,
            prompt_profile=self._settings.prompt_profile,
            continuation=self._continuation(served),
            max_concurrent_generations=self._slots.limit,
        )

    async def _serve(self) -> ServedModel:
        """Return the model that the server serves now."""
        try:
            models = await self._calls.models()
        except NotFound:
            # Some servers have no list; then the configured name is used.
            if self._settings.model is None:
                raise
            models = []
        served = select_model(models, self._settings, self._calls.server)
        known = self._served
        if known is not None and replace(known, logprobs=served.logprobs) == served:
            return known
        self._served = replace(served, logprobs=await self._gives_logprobs(served))
        return self._served

    async def _gives_logprobs(self, served: ServedModel) -> bool:
        try:
            return await self._probe(replace(served, logprobs=True))
        except PromptTooLong:
            raise
        except InvalidRequest:
            # Some models reject requests for log-probabilities. Other errors occur again.
            return await self._probe(served)

    async def _probe(self, served: ServedModel) -> bool:
        """Return whether a token has a log-probability."""
        deltas = self._tried(lambda: self._calls.stream(served, _PROBE))
        async with aclosing(deltas):
            tokens = [token async for delta in deltas for token in delta.tokens]
        return any(token.logprob is not None for token in tokens)

    def _tried(
        self, begin: Callable[[], AsyncGenerator[Delta, None]]
    ) -> AsyncGenerator[Delta, None]:
        """Return the stream, restarted if it fails before its first token."""
        return served_stream(
            begin,
            server=self._calls.server,
            silence_s=self._settings.read_timeout_s,
            sleep=self._sleep,
        )

    async def _deltas(
        self, served: ServedModel, request: GenerateRequest
    ) -> AsyncGenerator[Delta, None]:
        """Yield the server's deltas, with fewer tokens if its context has no room for all.

        Servers reject requests that exceed the context; here the context ends the text instead.
        """
        try:
            async with aclosing(self._calls.stream(served, request)) as deltas:
                async for delta in deltas:
                    yield delta
            return
        except NoRoom as error:
            if not 0 < error.room < request.max_tokens:
                raise
            room = error.room
        less = replace(request, max_tokens=room)
        async with aclosing(self._calls.stream(served, less)) as deltas:
            async for delta in deltas:
                yield delta

    def _max_top_tokens(self, served: ServedModel) -> int:
        if self._settings.openai_api == "chat":
            return MAX_TOP_TOKENS
        return served.dialect.max_top_tokens

    def _capabilities(self, served: ServedModel) -> frozenset[Capability]:
        dialect, completes = served.dialect, self._settings.openai_api == "completions"
        given = {
            Capability.SAMPLING: True,
            Capability.SEED: dialect.seeded,
            Capability.LOGPROBS: served.logprobs,
            Capability.TEXT_LOGPROBS: served.logprobs and dialect.reads_logprobs and completes,
        }
        return frozenset(each for each, has in given.items() if has)

    def _continuation(self, served: ServedModel) -> ContinuationKind:
        chat = self._settings.openai_api == "chat"
        return served.dialect.chat if chat else ContinuationKind.NATIVE
