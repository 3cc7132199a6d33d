"""Events of a model that reads a long prompt."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    GenerateRequest,
    GenerationEvent,
    GenerationProgress,
    PromptRead,
    TokenDrafted,
)
from scaar.testing.fakes import ScriptedGenerator

from .scripted import UNSURE_OF_PARIS, Parts, answer_in, asking


class SlowReader(ScriptedGenerator):
    """A generator that reports the reading of every prompt."""

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        yield GenerationProgress(1500, 0)
        yield GenerationProgress(1500, 1024)
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event


async def events_of(generator: ScriptedGenerator, policy: str) -> list[AnswerEvent]:
    return await Parts(generator).events(asking(policy))


@pytest.mark.parametrize(
    "policy", ["scaar", "flare", "single_round", "fixed_length", "no_retrieval"]
)
async def test_progress_is_reported_before_the_first_token_and_changes_nothing_else(
    policy: str,
) -> None:
    events = await events_of(SlowReader(UNSURE_OF_PARIS), policy)
    plain = await events_of(ScriptedGenerator(UNSURE_OF_PARIS), policy)
    reading = [event for event in events if isinstance(event, PromptRead)]
    assert reading[:2] == [PromptRead(0, 1500, 0), PromptRead(0, 1500, 1024)]
    first = next(at for at, event in enumerate(events) if isinstance(event, TokenDrafted))
    assert events.index(reading[1]) < first
    others = [event for event in events if not isinstance(event, PromptRead)]
    assert [e for e in others if not isinstance(e, AnswerFinished)] == [
        e for e in plain if not isinstance(e, AnswerFinished)
    ]
    assert answer_in(others).text == answer_in(plain).text
