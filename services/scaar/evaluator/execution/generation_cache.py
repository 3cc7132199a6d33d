"""A generator with a cache of its generations.

Settings of an evaluation that differ in when or what they retrieve generate the same text until
their first retrieval: the first draft of a question is the same for every policy. The cache answers
repeated requests, and the model generates only what is new.
"""

import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from scaar.core.ports import Generator
from scaar.core.types import GenerateRequest, GenerationEvent, GenerationProgress, is_last
from scaar.core.wrapped_generator import WrappedGenerator

MAX_CACHED = 2_000
"""Maximum number of cached generations; the least recently used one is evicted."""


class CachedGenerator(WrappedGenerator):
    """A :class:`Generator` that caches the generations of a deterministic generator.

    Samples without a seed, which differ with every call, are not cached. A generation that its
    reader abandoned is cached up to that point. A reader that continues beyond that point causes
    the generation to be made again from its start.
    """

    def __init__(self, generator: Generator, *, max_cached: int = MAX_CACHED) -> None:
        super().__init__(generator)
        self._max_cached = max_cached
        self._cached: OrderedDict[GenerateRequest, tuple[GenerationEvent, ...]] = OrderedDict()

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        key = replace(request, answer_id="")
        known = self._known(key)
        for event in known:
            yield event
        if known and is_last(known[-1], request):
            return
        made: list[GenerationEvent] = []
        try:
            async with aclosing(self._generator.generate(request)) as events:
                async for event in events:
                    if isinstance(event, GenerationProgress):
                        continue
                    made.append(event)
                    if len(made) > len(known):
                        yield event
        finally:
            self._store(key, tuple(made))

    def _known(self, request: GenerateRequest) -> tuple[GenerationEvent, ...]:
        # A generation with attention also serves a request without.
        for each in (request, replace(request, attention=True)):
            with contextlib.suppress(KeyError):
                self._cached.move_to_end(each)
                return self._cached[each]
        return ()

    def _store(self, request: GenerateRequest, made: tuple[GenerationEvent, ...]) -> None:
        if request.temperature and request.seed is None:
            return
        if len(made) <= len(self._cached.get(request, ())):
            return
        self._cached[request] = made
        self._cached.move_to_end(request)
        while len(self._cached) > self._max_cached:
            self._cached.popitem(last=False)
