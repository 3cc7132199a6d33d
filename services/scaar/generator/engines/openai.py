"""Generation by a server of OpenAI's interface: vLLM, SGLang, llama.cpp's, or OpenAI itself."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

from scaar.core.errors import CapabilityMissing, InvalidRequest, NotFound, PromptTooLong
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
    ModelDescription,
)
from scaar.generator.engines.openai_server.asking import OpenAiAsking
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.openai_server.client import open_client
from scaar.generator.engines.openai_server.failures import NoRoom
from scaar.generator.engines.openai_server.served import Served, served_of
from scaar.generator.engines.openai_server.writing import OpenAiWriting
from scaar.generator.engines.served.api_key import read_api_key
from scaar.generator.engines.served.prompt_text import read_prompt_text
from scaar.generator.engines.served.stream import served_stream
from scaar.generator.engines.served.text import ANY_VOCABULARY
from scaar.generator.engines.served.tls import read_tls
from scaar.generator.places import Places
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import MAX_TOP_TOKENS, check_attend, check_generate

_PROBE = GenerateRequest("Once upon a", max_tokens=1)


@asynccontextmanager
async def open_openai_generator(
    settings: GeneratorSettings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> AsyncIterator["OpenAiGenerator"]:
    """The generator over the server at the settings' url; see :func:`open_generator`.

    ``sleep`` is what passes between attempts.
    """
    key, tls = await read_api_key(settings), await read_tls(settings)
    prompt_text = await read_prompt_text(settings)
    async with open_client(settings, tls) as client:
        asking = OpenAiAsking(client, settings, prompt_text, key)
        generator = OpenAiGenerator(asking, settings, sleep=sleep)
        await generator.describe_model()
        yield generator


class OpenAiGenerator:
    """A :class:`~scaar.core.ports.Generator` over a server of OpenAI's interface.

    What the server serves is asked for with every description. Whether it gives log-probabilities
    is seen from one token, once for each model: a server's answer is all that tells.
    """

    def __init__(
        self,
        asking: OpenAiAsking,
        settings: GeneratorSettings,
        *,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._asking = asking
        self._settings = settings
        self._sleep = sleep
        self._places = Places(settings.max_concurrent)
        self._served: Served | None = None

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """The prompt's count where the server tells it, the tokens as they are made, then the end.

        Closing it closes the server's response, which ends its work.

        Raises:
            InvalidRequest: naming the wrong fields, before any work.
            Overloaded: as many generations are under way as may be, here or there.
        """
        check_generate(request, vocabulary=ANY_VOCABULARY, most_top_tokens=self._most_top_tokens())
        with self._places.one():
            served = self._served or await self._serve()
            restated = self._continuation(served) is ContinuationKind.RESTATED
            echoed = served.dialect.echoes and self._settings.openai_api == "chat"
            writing = OpenAiWriting(request, restated=restated, echoed=echoed)
            deltas = self._tried(lambda: self._deltas(served, request))
            told = False
            async with aclosing(deltas):
                async for delta in deltas:
                    tokens = writing.feed(delta)
                    if not told and delta.prompt_tokens:
                        yield GenerationStart(writing.prompt_tokens)
                    told = told or bool(tokens or delta.prompt_tokens)
                    for token in tokens:
                        yield token
                    if writing.finished is FinishReason.STOP:
                        break
        yield writing.end()

    async def attend(self, request: AttendRequest) -> Attention:
        check_attend(request, vocabulary=ANY_VOCABULARY)
        raise CapabilityMissing("engine openai gives no attention: its servers have none to give")

    async def describe_model(self) -> ModelDescription:
        served = await self._serve()
        kind = self._settings.logprob_kind
        return ModelDescription(
            model=served.model,
            revision="unknown",
            engine="openai",
            logprob_kind=served.dialect.logprob_kind if kind == "auto" else LogprobKind(kind),
            capabilities=frozenset({Capability.LOGPROBS} if served.logprobs else ()),
            max_total_tokens=served.max_total_tokens,
            prompt_profile=self._settings.prompt_profile,
            continuation=self._continuation(served),
            max_concurrent_generations=self._places.most,
        )

    async def _serve(self) -> Served:
        """What the server serves now."""
        try:
            models = await self._asking.models()
        except NotFound:
            # Some have no list; then the name that is set is taken for what they serve.
            if self._settings.model is None:
                raise
            models = []
        served = served_of(models, self._settings, self._asking.server)
        known = self._served
        if known is not None and replace(known, logprobs=served.logprobs) == served:
            return known
        self._served = replace(served, logprobs=await self._gives_logprobs(served))
        return self._served

    async def _gives_logprobs(self, served: Served) -> bool:
        try:
            return await self._probe(replace(served, logprobs=True))
        except PromptTooLong:
            raise
        except InvalidRequest:
            # Some models refuse to be asked for them. What else is wrong, the second time tells.
            return await self._probe(served)

    async def _probe(self, served: Served) -> bool:
        """Whether a token comes with its log-probability."""
        deltas = self._tried(lambda: self._asking.stream(served, _PROBE))
        async with aclosing(deltas):
            told = [token async for delta in deltas for token in delta.tokens]
        return any(token.logprob is not None for token in told)

    def _tried(
        self, begin: Callable[[], AsyncGenerator[Delta, None]]
    ) -> AsyncGenerator[Delta, None]:
        """The stream, begun again where it fails before its first token."""
        return served_stream(
            begin,
            server=self._asking.server,
            silence_s=self._settings.read_timeout_s,
            sleep=self._sleep,
        )

    async def _deltas(
        self, served: Served, request: GenerateRequest
    ) -> AsyncGenerator[Delta, None]:
        """What the server writes; fewer tokens where its context has no room for all of them.

        Servers refuse what they could not write to the end; the model's context ends a text here.
        """
        try:
            async with aclosing(self._asking.stream(served, request)) as deltas:
                async for delta in deltas:
                    yield delta
            return
        except NoRoom as error:
            if not 0 < error.room < request.max_tokens:
                raise
            room = error.room
        less = replace(request, max_tokens=room)
        async with aclosing(self._asking.stream(served, less)) as deltas:
            async for delta in deltas:
                yield delta

    def _most_top_tokens(self) -> int:
        if self._served is None or self._settings.openai_api == "chat":
            return MAX_TOP_TOKENS
        return self._served.dialect.most_top_tokens

    def _continuation(self, served: Served) -> ContinuationKind:
        chat = self._settings.openai_api == "chat"
        return served.dialect.chat if chat else ContinuationKind.NATIVE
