"""Engine ``tgi``: a server of Hugging Face's text-generation-inference (TGI).

Decoding is without penalties, top-k and top-p, so TGI transforms log-probabilities by the
temperature alone: greedily, and at temperature 1, they are those of the model, RAW. At another
temperature they are left out.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

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
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
    Token,
)
from scaar.generator.call_slots import CallSlots
from scaar.generator.engines.served.api_key import read_api_key
from scaar.generator.engines.served.prompt_text import PromptText, read_prompt_text
from scaar.generator.engines.served.prompting import UNCHOSEN
from scaar.generator.engines.served.text import ANY_VOCABULARY, ServedText
from scaar.generator.engines.served.tls import read_tls
from scaar.generator.engines.tgi_server.client import TgiClient, TgiDetails, TgiEvent
from scaar.generator.engines.tgi_server.prompting import choose_prompting
from scaar.generator.engines.tgi_server.requests import Sleep, TgiCalls
from scaar.generator.engines.tgi_server.text_logprobs import text_logprobs
from scaar.generator.engines.tgi_server.tokens import REASONS, rest_of, token_of
from scaar.generator.samples import each_sample
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import check_generate, check_logprob_count, check_logprobs
from scaar.http_client.aiohttp_requests import open_requests

MAX_TGI_TOP_TOKENS = 5
"""Default of TGI's --max-top-n-tokens."""
_CAPABILITIES = frozenset(
    {Capability.LOGPROBS, Capability.SAMPLING, Capability.SEED, Capability.TEXT_LOGPROBS}
)


@asynccontextmanager
async def open_tgi_generator(
    settings: GeneratorSettings, *, sleep: Sleep = asyncio.sleep
) -> AsyncIterator["TgiGenerator"]:
    """Open the generator over the server at ``url``.

    Raises:
        InvalidRequest: a file of the settings is unusable.
        BackendUnavailable: the server does not answer.
        NotFound: the server serves another model than the settings name.
    """
    if settings.url is None:
        raise NotFound("no server is set: set SCAAR_GENERATOR_URL")
    key = await read_api_key(settings)
    configured = await read_prompt_text(settings)
    tls = await read_tls(settings)
    # Generations are limited, so connections need no limit.
    async with open_requests(tls=tls, connect_timeout_s=settings.connect_timeout_s) as requests:
        client = TgiClient(settings.url, requests, api_key=key)
        calls = TgiCalls(client, settings, sleep=sleep)
        generator = TgiGenerator(calls, settings, configured)
        await generator.describe_model()
        yield generator


class TgiGenerator:
    """A :class:`~scaar.core.ports.Generator` whose model runs on a TGI server.

    Prompt and prefix are sent as one text. Stop strings are matched here, since the server matches
    them only at the end of a token.
    """

    def __init__(
        self, calls: TgiCalls, settings: GeneratorSettings, configured: PromptText | None
    ) -> None:
        """``configured`` is the prompt text with the template of the settings, if there is one."""
        self._calls = calls
        self._settings = settings
        self._configured = configured
        self._model = ""
        self._prompting = UNCHOSEN
        self._slots = CallSlots(settings.max_concurrent)

    @property
    def _capabilities(self) -> frozenset[Capability]:
        return _CAPABILITIES | self._prompting.text.capabilities

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the number of prompt tokens if the server reports it, the tokens, then the end.

        The server stops within one step when the stream is closed or cancelled.

        Raises:
            InvalidRequest: naming every invalid field, before any request.
            PromptTooLong: prompt and prefix leave no room in the model's context.
            Overloaded: the limit of concurrent generations, here or on the server, is reached.
        """
        check_generate(
            request,
            vocabulary=ANY_VOCABULARY,
            max_top_tokens=MAX_TGI_TOP_TOKENS,
            capabilities=self._capabilities,
        )
        with self._slots.slot():
            async with aclosing(each_sample(request, self._continue)) as events:
                async for event in events:
                    yield event

    async def _continue(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the events of a single sample."""
        text, written, generated = self._prompting.text.of(request), ServedText(request.stop), 0
        details: TgiDetails | None = None
        tempered = request.temperature not in (0, 1)
        async with (
            self._calls.count(text) as count,
            aclosing(self._calls.events(text, request, count)) as events,
        ):
            async for event in events:
                if not generated and (prompt_tokens := await count.tokens()) is not None:
                    yield GenerationStart(prompt_tokens)
                generated += 1
                details = event.details
                for token in _text_of(event, written, request.top_tokens):
                    yield replace(token, logprob=None, top=()) if tempered else token
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

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        # TGI returns the most likely tokens of generated positions only.
        check_logprobs(
            request, vocabulary=ANY_VOCABULARY, max_top_tokens=0, capabilities=self._capabilities
        )
        before = GenerateRequest(request.prompt, system=request.system)
        whole = replace(before, prefix=request.text)
        prompt_text = self._prompting.text
        text, start = prompt_text.of(whole), len(prompt_text.of(before))
        with self._slots.slot():
            spans, prefill = await self._calls.prefill(text)
        found = text_logprobs(text, spans, prefill, start=start, server=self._calls.server)
        check_logprob_count(request, len(found.tokens))
        return found

    async def release_answer(self, answer_id: str) -> None:
        """Nothing is kept for an answer."""

    async def describe_model(self) -> ModelDescription:
        info = await self._calls.model.current()
        if info.model_id != self._model:
            configured = self._configured
            self._prompting = await choose_prompting(
                self._settings, info.model_id, configured=configured
            )
            self._model = info.model_id
        # One below the server's limit, so that the server's limit is not reached first.
        self._slots.limit = min(
            self._settings.max_concurrent, max(1, info.max_concurrent_requests - 1)
        )
        return ModelDescription(
            model=info.model_id,
            revision=info.model_sha or "unknown",
            engine="tgi",
            logprob_kind=LogprobKind.RAW,
            capabilities=self._capabilities,
            max_total_tokens=info.max_total_tokens,
            prompt_profile=self._prompting.profile.name,
            max_concurrent_generations=self._slots.limit,
            kind=self._prompting.kind.kind,
        )

    async def server_capabilities(self) -> Mapping[str, str]:
        """Return how the model is prompted, and why, by name."""
        return {**self._prompting.report(), "kind of server": "tgi"}


def _text_of(event: TgiEvent, written: ServedText, top_tokens: int) -> list[Token]:
    """Return the tokens whose text is final after the event."""
    token = token_of(event, top_tokens)
    tokens = [] if token is None else written.feed(token)
    if event.details is not None and not written.met:
        tokens += written.flush(rest_of(event, written.text))
    return tokens
