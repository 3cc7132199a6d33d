"""Engine ``openai``: an OpenAI-compatible server, such as vLLM, SGLang, llama.cpp or OpenAI."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from itertools import chain, repeat

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
from scaar.generator.engines.openai_server.answer_slots import ANY_SLOT, AnswerSlots, Slot
from scaar.generator.engines.openai_server.capabilities import capabilities_of
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.openai_server.client import open_client
from scaar.generator.engines.openai_server.failures import NoRoom
from scaar.generator.engines.openai_server.prompt_reading import PromptReading, characters_of
from scaar.generator.engines.openai_server.prompting import ModelFile, choose_prompting
from scaar.generator.engines.openai_server.requests import OpenAiCalls
from scaar.generator.engines.openai_server.served_model import (
    ServedModel,
    failed_unlisted,
    select_model,
    unserved,
)
from scaar.generator.engines.openai_server.text_logprobs import text_logprobs
from scaar.generator.engines.openai_server.thinking import (
    Unanswered,
    answer_deltas,
    thinks_first,
)
from scaar.generator.engines.openai_server.token_stream import OpenAiTokenStream
from scaar.generator.engines.served.api_key import read_api_key
from scaar.generator.engines.served.prompt_text import PromptText, read_prompt_text
from scaar.generator.engines.served.prompting import UNCHOSEN, Prompting
from scaar.generator.engines.served.silence import ReadingSpeed
from scaar.generator.engines.served.stream import served_answer, served_stream
from scaar.generator.engines.served.text import ANY_VOCABULARY
from scaar.generator.engines.served.tls import read_tls
from scaar.generator.samples import each_sample
from scaar.generator.server_probe import REQUEST
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
    configured = await read_prompt_text(settings)
    async with open_client(settings, tls) as client:
        calls = OpenAiCalls(client, settings, key)
        generator = OpenAiGenerator(calls, settings, configured=configured, sleep=sleep)
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
        configured: PromptText | None,
        sleep: Callable[[float], Awaitable[None]],
        file: ModelFile | None = None,
    ) -> None:
        """``configured`` is the prompt text with the template of the settings, if there is one.

        ``file`` is that of the model, if it is known.
        """
        self._file = file
        self._calls = calls
        self._settings = settings
        self._configured = configured
        self._sleep = sleep
        self._slots = CallSlots(settings.max_concurrent)
        self._answer_slots: AnswerSlots | None = None
        self._served: ServedModel | None = None
        self._speed = ReadingSpeed(settings.read_timeout_s)

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
        # What follows a thought has lost the space before it, as what follows an instruction has.
        restated = served.thinks or self._continuation(served) is ContinuationKind.RESTATED
        echoed = served.dialect.echoes and served.prompting.chats
        writing = OpenAiTokenStream(request, restated=restated, echoed=echoed)
        started = False
        async with (
            self._slot_of(request) as slot,
            aclosing(self._tried_in(served, request, slot)) as deltas,
        ):
            reading = PromptReading(request, self._speed)
            async for delta in deltas:
                if delta.progress is not None:
                    if reading.is_long(delta.progress):
                        yield delta.progress
                    continue
                reading.end(delta)
                tokens = writing.feed(delta)
                if not started and delta.prompt_tokens:
                    yield GenerationStart(
                        delta.prompt_tokens, evaluated_tokens=delta.evaluated_tokens
                    )
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
                silence=self._speed.limits(len(request.prompt) + len(request.text)),
                sleep=self._sleep,
            )
        try:
            found = text_logprobs(completion, text, start=start, top_tokens=request.top_tokens)
        except ValueError as error:
            description = f"{self._calls.server} sent an invalid response: {error}"
            raise BackendUnavailable(description, server=self._calls.server) from None
        check_logprob_count(request, len(found.tokens))
        return found

    async def release_answer(self, answer_id: str) -> None:
        if self._answer_slots is not None:
            self._answer_slots.release(answer_id)

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
            prompt_profile=served.prompting.profile.name,
            continuation=self._continuation(served),
            max_concurrent_generations=self._slots.limit,
            kind=served.prompting.kind.kind,
        )

    async def server_capabilities(self) -> Mapping[str, str]:
        """Return the capabilities of the server that the chunks of a generation show, by name."""
        served = await self._serve()
        async with aclosing(self._tried(lambda: self._deltas(served, REQUEST))) as deltas:
            found = capabilities_of(served, [delta async for delta in deltas])
        return {**served.prompting.report(), **found}

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
        if known is not None and _without_probe(known) == served:
            return known
        probed = await self._probed(served)
        if served.dialect.slots and self._settings.prefix_reuse == "answer":
            probed = replace(probed, slots=await self._calls.slots())
        self._answer_slots = AnswerSlots(probed.slots) if probed.slots else None
        self._served = probed
        return probed

    async def _probed(self, served: ServedModel) -> ServedModel:
        """Return the model with what the first token of a generation shows of it."""
        served = replace(served, prompting=await self._prompting(served))
        chats = served.prompting.chats and bool(served.dialect.thinking_off)
        # Some models reject the fields for log-probabilities or for thinking. Other errors occur
        # again without them.
        for logprobs, off in ((True, chats), (True, False), (False, chats), (False, False)):
            try:
                return await self._probe(replace(served, logprobs=logprobs, thinking_off=off))
            except NotFound as error:
                if not served.others:
                    raise
                which, server = f"no model {served.model}", self._calls.server
                raise unserved(which, served.others, server, detail=error.detail) from error
            except BackendUnavailable as error:
                if served.others is None:
                    raise
                model, others, server = served.model, served.others, self._calls.server
                raise failed_unlisted(error, model, others=others, server=server) from error
            except PromptTooLong:
                raise
            except InvalidRequest:
                if not (logprobs or off):
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _prompting(self, served: ServedModel) -> Prompting:
        return await choose_prompting(
            self._settings,
            served.model,
            served.dialect,
            file=self._file,
            configured=self._configured,
            reported=self._calls.chat_template,
        )

    async def _probe(self, served: ServedModel) -> ServedModel:
        """Start a generation and end it with its first token."""
        first = await self._first(lambda: self._calls.stream(served, _PROBE))
        thinks = thinks_first(first)
        if thinks and not first.tokens:
            # The tokens of thoughts may be hidden, unlike those of the answer.
            thinking = replace(served, thinks=True)
            first = await self._first(lambda: self._deltas(thinking, _PROBE))
        given = any(token.logprob is not None for token in first.tokens)
        return replace(served, logprobs=given, thinks=thinks)

    async def _first(self, begin: Callable[[], AsyncGenerator[Delta, None]]) -> Delta:
        """Return the first delta with a token, a text, a thought or the end."""
        async with aclosing(self._tried(begin)) as deltas:
            async for delta in deltas:
                if delta.tokens or delta.text or delta.thinking or delta.finish_reason:
                    return delta
        return Delta()

    def _tried(
        self, begin: Callable[[], AsyncGenerator[Delta, None]], request: GenerateRequest = _PROBE
    ) -> AsyncGenerator[Delta, None]:
        """Return the stream of a request, restarted if it fails before its first token."""
        return served_stream(
            begin,
            server=self._calls.server,
            silence=self._speed.limits(characters_of(request)),
            reads=lambda delta: delta.progress is not None,
            sleep=self._sleep,
        )

    @asynccontextmanager
    async def _slot_of(self, request: GenerateRequest) -> AsyncIterator[Slot]:
        """Hold the slot of a call for the block."""
        if self._answer_slots is None:
            yield ANY_SLOT
            return
        async with self._answer_slots.slot(request.answer_id) as slot:
            yield slot

    def _tried_in(
        self, served: ServedModel, request: GenerateRequest, slot: Slot
    ) -> AsyncGenerator[Delta, None]:
        """Return the stream of a call in a slot, of which a second attempt reuses nothing."""
        slots = chain([slot], repeat(replace(slot, reuse=False)))
        return self._tried(lambda: self._deltas(served, request, next(slots)), request)

    async def _deltas(
        self, served: ServedModel, request: GenerateRequest, slot: Slot = ANY_SLOT
    ) -> AsyncGenerator[Delta, None]:
        """Yield the answer's deltas, with fewer tokens if the context has no room for all.

        Servers reject requests that exceed the context; here the context ends the text instead. A
        model that is first seen to think starts again with tokens for its thoughts, and a chat that
        rejects a turn of the system starts again with its text in the user's turn.
        """
        started = False
        room = self._settings.max_thinking_tokens * served.thinks + request.max_tokens
        while True:
            deltas = self._calls.stream(served, replace(request, max_tokens=room), slot)
            answer = answer_deltas(
                deltas,
                max_tokens=request.max_tokens if served.thinks else None,
                max_thinking_tokens=self._settings.max_thinking_tokens,
            )
            try:
                async with aclosing(deltas), aclosing(answer):
                    async for delta in answer:
                        if not (started or served.system_turn):
                            self._learned(served, system_turn=False)
                        started = True
                        yield delta
                return
            except NoRoom as error:
                if not 0 < error.room < room:
                    raise
                room = error.room
            except PromptTooLong:
                raise
            except InvalidRequest:
                # Some templates have no turn of the system, such as those of Gemma.
                chats = served.prompting.chats
                if started or not (chats and request.system and served.system_turn):
                    raise
                served = replace(served, system_turn=False)
            except Unanswered:
                if served.thinks:
                    raise
                served = self._learned(served, thinks=True)
                room = self._settings.max_thinking_tokens + request.max_tokens

    def _learned(self, served: ServedModel, **facts: bool) -> ServedModel:
        """Return the model with what its answer showed, which later requests know too."""
        if self._served is not None and self._served.model == served.model:
            self._served = replace(self._served, **facts)  # type: ignore[arg-type]
        return replace(served, **facts)  # type: ignore[arg-type]

    def _max_top_tokens(self, served: ServedModel) -> int:
        if served.prompting.chats:
            return MAX_TOP_TOKENS
        return served.dialect.max_top_tokens

    def _capabilities(self, served: ServedModel) -> frozenset[Capability]:
        dialect, chats = served.dialect, served.prompting.chats
        given = {
            Capability.SAMPLING: True,
            Capability.SEED: dialect.seeded,
            Capability.LOGPROBS: served.logprobs,
            Capability.TEXT_LOGPROBS: served.logprobs and dialect.reads_logprobs and not chats,
            Capability.SYSTEM_TURN: chats or served.prompting.text.system is not None,
            Capability.ANSWER_SLOTS: served.slots > 0,
        }
        return frozenset(each for each, has in given.items() if has)

    def _continuation(self, served: ServedModel) -> ContinuationKind:
        return served.dialect.chat if served.prompting.chats else ContinuationKind.NATIVE


def _without_probe(served: ServedModel) -> ServedModel:
    return replace(
        served,
        logprobs=False,
        thinking_off=False,
        thinks=False,
        prompting=UNCHOSEN,
        system_turn=True,
        slots=0,
    )
