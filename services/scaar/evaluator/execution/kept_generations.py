"""A generator that gives again what it was asked for before.

Settings of an evaluation that differ in when or what is looked up write the same until they do:
the first draft of a question is that of every policy. Asked again for what was generated, this
generator gives what is kept and asks the model only for what is not.
"""

import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    Attention,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    ModelDescription,
)

MOST_KEPT = 2_000
"""How many generations are kept, the last ones used."""


class KeptGenerations:
    """A :class:`Generator` over another that always writes the same for the same request.

    A generation that was left early is kept as far as it went; whoever goes on beyond that has it
    made again from its beginning.
    """

    def __init__(self, generator: Generator, *, most: int = MOST_KEPT) -> None:
        self._generator = generator
        self._most = most
        self._kept: OrderedDict[GenerateRequest, tuple[GenerationEvent, ...]] = OrderedDict()

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        known = self._known(request)
        for event in known:
            yield event
        if known and isinstance(known[-1], GenerationEnd):
            return
        made: list[GenerationEvent] = []
        try:
            async with aclosing(self._generator.generate(request)) as events:
                async for event in events:
                    made.append(event)
                    if len(made) > len(known):
                        yield event
        finally:
            self._keep(request, tuple(made))

    async def attend(self, request: AttendRequest) -> Attention:
        return await self._generator.attend(request)

    async def describe_model(self) -> ModelDescription:
        return await self._generator.describe_model()

    def _known(self, request: GenerateRequest) -> tuple[GenerationEvent, ...]:
        # One with attention is as good for whoever asks for none.
        for each in (request, replace(request, attention=True)):
            with contextlib.suppress(KeyError):
                self._kept.move_to_end(each)
                return self._kept[each]
        return ()

    def _keep(self, request: GenerateRequest, made: tuple[GenerationEvent, ...]) -> None:
        if len(made) <= len(self._kept.get(request, ())):
            return
        self._kept[request] = made
        self._kept.move_to_end(request)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
