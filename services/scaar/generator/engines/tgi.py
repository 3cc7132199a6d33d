"""Generation by a server of Hugging Face's text-generation-inference (TGI).

Decoding is greedy and without penalties, so what TGI does to log-probabilities before it tells
them (temperature, top-k, top-p, penalties) is nothing, and they are the model's own: RAW.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import aiohttp

from scaar.core.errors import CapabilityMissing, NotFound
from scaar.core.types import (
    AttendRequest,
    Attention,
    Capability,
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationStart,
    LogprobKind,
    ModelDescription,
    Token,
)
from scaar.generator.engines.served.api_key import read_api_key
from scaar.generator.engines.served.prompt_text import PromptText, read_prompt_text
from scaar.generator.engines.served.text import ANY_VOCABULARY, ServedText
from scaar.generator.engines.served.tls import read_tls
from scaar.generator.engines.tgi_server.asking import Sleep, TgiAsking
from scaar.generator.engines.tgi_server.client import TgiClient, TgiDetails, TgiEvent
from scaar.generator.engines.tgi_server.tokens import REASONS, rest_of, token_of
from scaar.generator.places import Places
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import check_generate

MOST_TOP_TOKENS = 5
"""What a server gives unless it was started with another --max-top-n-tokens."""


@asynccontextmanager
async def open_tgi_generator(
    settings: GeneratorSettings, *, sleep: Sleep = asyncio.sleep
) -> AsyncIterator["TgiGenerator"]:
    """The generator over the server at the settings' url, which must answer.

    Raises:
        InvalidRequest: a file that the settings name cannot be used.
        BackendUnavailable: it does not.
        NotFound: it has another model than the settings name.
    """
    if settings.url is None:
        raise NotFound("no server is set: SCAAR_GENERATOR_URL names it")
    key = await read_api_key(settings)
    prompt_text = await read_prompt_text(settings)
    tls = await read_tls(settings)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=settings.connect_timeout_s)
    # The bound on connections is that on generations.
    async with aiohttp.ClientSession(
        timeout=timeout, connector=aiohttp.TCPConnector(limit=0, ssl=tls or True)
    ) as session:
        client = TgiClient(settings.url, session, api_key=key)
        asking = TgiAsking(client, settings, sleep=sleep)
        generator = TgiGenerator(asking, settings, prompt_text)
        await generator.describe_model()
        yield generator


class TgiGenerator:
    """A :class:`~scaar.core.ports.Generator` whose model runs in a TGI server.

    Prompt and prefix go to the server as one text, which is all that its route takes. Stop strings
    are matched here: the server matches them where tokens end only.
    """

    def __init__(
        self, asking: TgiAsking, settings: GeneratorSettings, prompt_text: PromptText
    ) -> None:
        self._asking = asking
        self._settings = settings
        self._prompt_text = prompt_text
        self._places = Places(settings.max_concurrent)

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """The prompt's count if the server gives it, the tokens as it writes them, then the end.

        The server stops within one step when the stream is closed or its task cancelled.

        Raises:
            InvalidRequest: naming the wrong fields, before the server is asked.
            PromptTooLong: prompt and prefix leave no room in the model's context.
            Overloaded: as many generations are under way as may be, here or there.
        """
        check_generate(request, vocabulary=ANY_VOCABULARY, most_top_tokens=MOST_TOP_TOKENS)
        text, written, generated = self._prompt_text.of(request), ServedText(request.stop), 0
        details: TgiDetails | None = None
        with self._places.one():
            async with (
                self._asking.count(text) as count,
                aclosing(self._asking.events(text, request, count)) as events,
            ):
                async for event in events:
                    if not generated and (prompt_tokens := await count.tokens()) is not None:
                        yield GenerationStart(prompt_tokens)
                    generated += 1
                    details = event.details
                    for token in _text_of(event, written, request.top_tokens):
                        yield token
                    if written.met:
                        break
        reason = FinishReason.STOP
        if details is not None:
            generated = details.generated_tokens
            prompt_tokens = details.input_length or prompt_tokens
            reason = reason if written.met else REASONS[details.finish_reason]
        yield GenerationEnd(reason, prompt_tokens or 0, generated)

    async def attend(self, request: AttendRequest) -> Attention:
        raise CapabilityMissing("engine tgi does not give attention")

    async def describe_model(self) -> ModelDescription:
        info = await self._asking.model.described()
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
            max_concurrent_generations=self._places.most,
        )


def _text_of(event: TgiEvent, written: ServedText, top_tokens: int) -> list[Token]:
    """The tokens that are known to be text with the event."""
    token = token_of(event, top_tokens)
    tokens = [] if token is None else written.feed(token)
    if event.details is not None and not written.met:
        tokens += written.flush(rest_of(event, written.text))
    return tokens
