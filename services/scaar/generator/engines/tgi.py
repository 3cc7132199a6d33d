"""Generation by a server of Hugging Face's text-generation-inference (TGI).

Decoding is greedy and without penalties, so what TGI does to log-probabilities before it tells
them (temperature, top-k, top-p, penalties) is nothing, and they are the model's own: RAW.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

import aiohttp
from text_generation.types import FinishReason as TgiFinishReason
from text_generation.types import Token as TgiToken

from scaar.core.errors import (
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    PromptTooLong,
    ScaarError,
)
from scaar.core.types import (
    AttendRequest,
    Attention,
    Capability,
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    LogprobKind,
    ModelDescription,
    TopToken,
)
from scaar.generator.engines.api_key import read_api_key
from scaar.generator.engines.places import Places
from scaar.generator.engines.served_stream import served_answer, served_stream
from scaar.generator.engines.served_text import ANY_VOCABULARY, ServedText, ServedToken
from scaar.generator.engines.tgi_client import ServerInfo, TgiClient, TgiDetails, TgiEvent
from scaar.generator.engines.tgi_model import TgiModel
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import check_generate, check_room

MOST_TOP_TOKENS = 5
"""What a server gives unless it was started with another --max-top-n-tokens."""

_REASONS = {
    TgiFinishReason.Length: FinishReason.LENGTH,
    TgiFinishReason.EndOfSequenceToken: FinishReason.END_OF_SEQUENCE,
    TgiFinishReason.StopSequence: FinishReason.STOP,
}
_Answer = TypeVar("_Answer")
Sleep = Callable[[float], Awaitable[None]]


@asynccontextmanager
async def open_tgi_generator(
    settings: GeneratorSettings, *, sleep: Sleep = asyncio.sleep
) -> AsyncIterator["TgiGenerator"]:
    """The generator over the server at the settings' url, which must answer.

    Raises:
        BackendUnavailable: it does not.
        NotFound: it has another model than the settings name.
    """
    if settings.url is None:
        raise NotFound("no server is set: SCAAR_GENERATOR_URL names it")
    key = await read_api_key(settings)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=settings.connect_timeout_s)
    # The bound on connections is that on generations.
    async with aiohttp.ClientSession(
        timeout=timeout, connector=aiohttp.TCPConnector(limit=0)
    ) as session:
        client = TgiClient(settings.url, session, api_key=key)
        generator = TgiGenerator(client, settings, sleep=sleep)
        await generator.describe_model()
        yield generator


class TgiGenerator:
    """A :class:`~scaar.core.ports.Generator` whose model runs in a TGI server.

    Prompt and prefix go to the server as one text. Stop strings are matched here: the server
    matches them where tokens end only. The server counts a prompt at the end of its generation, so
    there is no start event.
    """

    def __init__(
        self, client: TgiClient, settings: GeneratorSettings, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._client = client
        self._settings = settings
        self._sleep = sleep
        self._server = client.base_url
        self._places = Places(settings.max_concurrent)
        self._model = TgiModel(self._info, name=settings.model, server=self._server)

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """The tokens as the server writes them, then the end.

        The server stops within one step when the stream is closed or its task cancelled.

        Raises:
            InvalidRequest: naming the wrong fields, before the server is asked.
            PromptTooLong: prompt and prefix leave no room in the model's context.
            Overloaded: as many generations are under way as may be, here or there.
        """
        check_generate(request, vocabulary=ANY_VOCABULARY, most_top_tokens=MOST_TOP_TOKENS)
        text, written, generated = request.prompt + request.prefix, ServedText(request.stop), 0
        details: TgiDetails | None = None
        with self._places.one():
            async with aclosing(self._fitting(text, request)) as events:
                async for event in events:
                    generated += 1
                    details = event.details
                    for token in [] if _is_mark(event) else written.feed(_token(event, request)):
                        yield token
                    if written.met:
                        break
                    if details is not None:
                        for token in written.flush(_rest(event, written)):
                            yield token
            prompt_tokens = await self._prompt_tokens(text, details)
        reason = FinishReason.STOP
        if not written.met and details is not None:
            reason, generated = _REASONS[details.finish_reason], details.generated_tokens
        yield GenerationEnd(reason, prompt_tokens, generated)

    async def attend(self, request: AttendRequest) -> Attention:
        raise CapabilityMissing("engine tgi does not give attention")

    async def describe_model(self) -> ModelDescription:
        info = await self._model.described()
        # One place is left to others, so that the server's own bound is not met first.
        self._places.most = min(
            self._settings.max_concurrent, max(1, info.max_concurrent_requests - 1)
        )
        return ModelDescription(
            model=info.model_id,
            revision=info.model_sha or "unknown",
            engine="tgi",
            logprob_kind=LogprobKind.RAW,
            capabilities=frozenset({Capability.LOGPROBS}),
            max_total_tokens=info.max_total_tokens,
            prompt_profile=self._settings.prompt_profile,
        )

    async def _fitting(self, text: str, request: GenerateRequest) -> AsyncGenerator[TgiEvent, None]:
        """The events of a generation as long as there is room for.

        The server refuses a request for more tokens than that.
        """
        refused: InvalidRequest | None = None
        try:
            async with aclosing(self._stream(text, request, request.max_tokens)) as events:
                async for event in events:
                    yield event
        except InvalidRequest as error:
            refused = error
        except ScaarError:
            self._model.doubt()
            raise
        if refused is not None:
            room = await self._room(text, request, refused)
            async with aclosing(self._stream(text, request, room)) as events:
                async for event in events:
                    yield event

    async def _room(self, text: str, request: GenerateRequest, refused: InvalidRequest) -> int:
        """How many tokens may follow a text for which the server refused as many as asked for.

        Raises:
            PromptTooLong: none.
            InvalidRequest: as many as asked for: it was refused for something else.
        """
        if isinstance(refused, PromptTooLong):
            raise refused
        info = await self._model.asked()
        tokens = await self._count(text)
        check_room("prompt", tokens, min(info.max_input_tokens, info.max_total_tokens - 1))
        room = info.max_total_tokens - tokens
        if room >= request.max_tokens:
            raise refused
        return room

    def _stream(
        self, text: str, request: GenerateRequest, max_tokens: int
    ) -> AsyncGenerator[TgiEvent, None]:
        return served_stream(
            lambda: self._client.generate_stream(
                text,
                do_sample=False,
                max_new_tokens=max_tokens,
                top_n_tokens=request.top_tokens or None,
            ),
            server=self._server,
            silence_s=self._settings.read_timeout_s,
            sleep=self._sleep,
        )

    async def _prompt_tokens(self, text: str, details: TgiDetails | None) -> int:
        """The prompt's count for the bill, 0 where the server does not give it."""
        if details is not None and details.input_length:
            return details.input_length
        try:
            return await self._count(text)
        except ScaarError:
            return 0

    async def _count(self, text: str) -> int:
        return await self._answer(lambda: self._client.count_tokens(text))

    async def _info(self) -> ServerInfo:
        return await self._answer(self._client.info)

    async def _answer(self, ask: Callable[[], Awaitable[_Answer]]) -> _Answer:
        silence_s = self._settings.read_timeout_s
        return await served_answer(ask, server=self._server, silence_s=silence_s, sleep=self._sleep)


def _is_mark(event: TgiEvent) -> bool:
    """Whether the token is a sign to the model and no text."""
    details = event.details
    ends = details is not None and details.finish_reason is TgiFinishReason.EndOfSequenceToken
    return event.token.special or ends


def _token(event: TgiEvent, request: GenerateRequest) -> ServedToken:
    top = tuple(
        TopToken(each.id, each.text, logprob)
        for each in event.top_tokens or ()
        if (logprob := _logprob(each)) is not None
    )
    token = event.token
    # Equals of the last one come along.
    return ServedToken(token.id, token.text, _logprob(token), top[: request.top_tokens])


def _logprob(token: TgiToken) -> float | None:
    """The log-probability, never above 0 by a rounding; None where it is no number."""
    if token.logprob is None or not math.isfinite(token.logprob):
        return None
    return min(0.0, token.logprob)


def _rest(event: TgiEvent, written: ServedText) -> str:
    """What the whole text ends with, and no token had: a character that stayed in parts."""
    whole = event.generated_text or ""
    return whole[len(written.text) :] if whole.startswith(written.text) else ""
