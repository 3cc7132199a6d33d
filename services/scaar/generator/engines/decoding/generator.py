"""Generator over the decoder of an embedded engine."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import TypeVar

from scaar.core.errors import CapabilityMissing
from scaar.core.types import (
    AttendRequest,
    Attention,
    Capability,
    GenerateRequest,
    GenerationEvent,
    GenerationStart,
    LogprobKind,
    LogprobsRequest,
    ModelDescription,
    TextLogprobs,
    Token,
)
from scaar.generator.call_slots import CallSlots
from scaar.generator.engines.decoding.attention import AttentionPass
from scaar.generator.engines.decoding.continuation import Continuation
from scaar.generator.engines.decoding.language_model import LanguageModel
from scaar.generator.engines.decoding.prefix_store import PrefixStore
from scaar.generator.engines.decoding.step_batcher import StepBatcher
from scaar.generator.engines.decoding.text_logprobs import LogprobsPass
from scaar.generator.samples import each_sample
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import check_attend, check_generate, check_logprobs, check_size

_T = TypeVar("_T")
_CAPABILITIES = frozenset(
    {
        Capability.LOGPROBS,
        Capability.ENTROPY,
        Capability.RESUME_BY_IDS,
        Capability.SAMPLING,
        Capability.SEED,
        Capability.NAMED_TOKENS,
        Capability.TEXT_LOGPROBS,
    }
)
"""Capabilities of every decoder."""
_SHORT_STEP_S = 0.001
"""A shorter step runs on the event loop if it is alone: a thread would cost as much again."""


@asynccontextmanager
async def open_decoding_generator(
    settings: GeneratorSettings, open_model: Callable[[], LanguageModel], *, engine: str
) -> AsyncIterator["DecodingGenerator"]:
    """Open a model in a thread, and its generator until the block ends."""
    executor = ThreadPoolExecutor(settings.workers, thread_name_prefix="scaar-generator")
    try:
        model = await asyncio.get_running_loop().run_in_executor(executor, open_model)
        store = PrefixStore(settings.prefix_cache_mb * 1_000_000)
        yield DecodingGenerator(
            model,
            executor,
            store,
            engine=engine,
            max_concurrent=settings.max_concurrent,
            max_batch=settings.max_batch,
        )
    finally:
        await asyncio.to_thread(executor.shutdown, cancel_futures=True)


class DecodingGenerator:
    """A :class:`~scaar.core.ports.Generator` whose steps run in an executor.

    Concurrent generations alternate: each submits one step at a time, and the executor runs steps
    in the order of submission. With a ``max_batch`` above 1, one step continues up to that many
    generations. Only the short steps of a generation alone run on the event loop.
    """

    def __init__(
        self,
        model: LanguageModel,
        executor: ThreadPoolExecutor,
        store: PrefixStore,
        *,
        engine: str,
        max_concurrent: int,
        max_batch: int = 1,
    ) -> None:
        """``engine`` is the name of the engine in the model description."""
        self._model = model
        self._engine = engine
        self._executor = executor
        self._store = store
        self._generation_slots = CallSlots(max_concurrent)
        # Counted separately: an answer requests the attention of a draft that is in progress.
        self._attention_slots = CallSlots(max_concurrent, of="attention requests")
        self._logprobs_slots = CallSlots(max_concurrent, of="requests for log-probabilities")
        decoder = model.decoder
        self._step_s = math.inf
        """Duration of the last step after a first token."""
        self._batcher = (
            StepBatcher(decoder, self._run, step_alone=self._timed_step, max_batch=max_batch)
            if max_batch > 1 and decoder.gives_batches
            else None
        )
        self._capabilities = _CAPABILITIES
        if decoder.gives_attention:
            self._capabilities |= {Capability.ATTENTION}
        if decoder.hidden_layers is not None:
            self._capabilities |= {Capability.HIDDEN_STATES}
        if model.system_turn is not None:
            self._capabilities |= {Capability.SYSTEM_TURN}

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the number of prompt tokens, the tokens, then the end.

        A closed or cancelled stream stops after the current step. What it has read is cached for
        the next generation with the same prefix.

        Raises:
            InvalidRequest: naming every invalid field, before any work.
            CapabilityMissing: attention or a hidden state is requested, and the model gives none.
            Overloaded: the limit of concurrent generations is reached.
        """
        self._check_size(
            {"system": request.system, "prompt": request.prompt, "prefix": request.prefix},
            {"prefix_token_ids": request.prefix_token_ids},
        )
        check_generate(
            request,
            vocabulary=self._model.vocabulary,
            capabilities=self._capabilities,
            hidden_layers=self._model.decoder.hidden_layers,
        )
        with self._generation_slots.slot():
            async with aclosing(each_sample(request, self._continue)) as events:
                async for event in events:
                    yield event

    async def attend(self, request: AttendRequest) -> Attention:
        self._check_size(
            {"system": request.system, "prompt": request.prompt, "text": request.text},
            {"text_token_ids": request.text_token_ids},
        )
        check_attend(request, vocabulary=self._model.vocabulary, capabilities=self._capabilities)
        if not self._model.decoder.gives_attention:
            raise CapabilityMissing(
                f"model {self._model.name} on engine {self._engine} gives no attention"
            )
        with self._attention_slots.slot():
            attending = await self._run(lambda: AttentionPass(self._model, request, self._store))
            while not attending.done:
                await self._run(attending.step)
            return await self._run(attending.attention)

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        self._check_size(
            {"system": request.system, "prompt": request.prompt, "text": request.text},
            {"text_token_ids": request.text_token_ids},
        )
        check_logprobs(request, vocabulary=self._model.vocabulary, capabilities=self._capabilities)
        with self._logprobs_slots.slot():
            reading = await self._run(lambda: LogprobsPass(self._model, request, self._store))
            while not reading.done:
                await self._run(reading.step)
            return reading.logprobs()

    async def release_answer(self, answer_id: str) -> None:
        """Nothing is kept for an answer."""

    async def describe_model(self) -> ModelDescription:
        return ModelDescription(
            model=self._model.name,
            revision=self._model.revision,
            engine=self._engine,
            logprob_kind=LogprobKind.RAW,
            capabilities=self._capabilities,
            max_total_tokens=self._model.max_total_tokens,
            prompt_profile=self._model.prompt_profile,
            recommended=self._model.recommended,
            max_concurrent_generations=self._generation_slots.limit,
            hidden_layers=self._model.decoder.hidden_layers,
            kind=self._model.kind,
        )

    async def _continue(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the events of a single sample."""
        writing = await self._run(lambda: Continuation(self._model, request, self._store))
        with self._stored_on_cancel(writing):
            while not writing.generated_tokens:
                tokens = await self._run(writing.step)
            yield GenerationStart(
                writing.prompt_tokens, writing.read_tokens, writing.evaluated_tokens
            )
            while True:
                for token in tokens:
                    yield token
                if writing.finished is not None:
                    break
                tokens = await self._step(writing)
        yield writing.end()

    async def _step(self, writing: Continuation) -> list[Token]:
        if self._step_s > _SHORT_STEP_S or not self._is_alone:
            if self._batcher is not None and writing.batches:
                return await self._batcher.step(writing)
            return await self._run(lambda: self._timed_step(writing))
        tokens = self._timed_step(writing)
        # Other calls, and a cancellation of this one, are served between steps.
        await asyncio.sleep(0)
        return tokens

    @property
    def _is_alone(self) -> bool:
        """Whether one generation is all that the model computes."""
        others = self._attention_slots.in_use + self._logprobs_slots.in_use
        return self._generation_slots.in_use == 1 and not others

    def _timed_step(self, writing: Continuation) -> list[Token]:
        started = time.perf_counter()
        try:
            return writing.step()
        finally:
            self._step_s = time.perf_counter() - started

    def _check_size(self, texts: Mapping[str, str], ids: Mapping[str, Sequence[int]]) -> None:
        """Check the size of the texts before they are tokenized."""
        check_size(
            texts,
            ids,
            max_tokens=self._model.max_total_tokens,
            characters_per_token=self._model.characters_per_token,
        )

    @contextmanager
    def _stored_on_cancel(self, writing: Continuation) -> Iterator[None]:
        """Cache what a generation has read if it is cancelled."""
        try:
            yield
        finally:
            if self._batcher is not None:
                self._batcher.leave(writing)
            if writing.finished is None:
                with suppress(RuntimeError):  # the executor is shut down
                    self._executor.submit(writing.store)

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)
