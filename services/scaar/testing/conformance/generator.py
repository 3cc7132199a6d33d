"""What every generator must keep to."""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    Capability,
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationStart,
    Token,
)


class GeneratorConformance:
    """Derive, give the fixture ``generator``, and a prompt that is followed by several words."""

    prompt = "Question: where?\nAnswer:"

    @pytest.fixture
    def generator(self) -> Generator:
        """The generator under test."""
        raise NotImplementedError

    async def test_a_generation_is_a_start_if_any_then_tokens_then_one_end(
        self, generator: Generator
    ) -> None:
        events = await _events(generator, GenerateRequest(self.prompt, max_tokens=8))
        starts = [event for event in events if isinstance(event, GenerationStart)]
        assert starts == [event for event in events[:1] if isinstance(event, GenerationStart)]
        assert isinstance(events[-1], GenerationEnd)
        assert all(isinstance(event, Token) for event in events[len(starts) : -1])
        assert all(start.prompt_tokens == events[-1].prompt_tokens for start in starts)

    async def test_the_end_counts_the_tokens(self, generator: Generator) -> None:
        events = await _events(generator, GenerateRequest(self.prompt, max_tokens=8))
        assert _end(events).generated_tokens >= len(_tokens(events)) >= 3
        assert _end(events).prompt_tokens >= 1

    async def test_spans_follow_one_another_and_cover_the_text(self, generator: Generator) -> None:
        tokens = _tokens(await _events(generator, GenerateRequest(self.prompt, max_tokens=16)))
        assert tokens[0].start == 0
        assert all(one.end == two.start for one, two in itertools.pairwise(tokens))
        assert all(token.end - token.start == len(token.text) for token in tokens)

    async def test_logprobs_are_given_where_they_are_promised(self, generator: Generator) -> None:
        capabilities = (await generator.describe_model()).capabilities
        request = GenerateRequest(self.prompt, max_tokens=8, top_tokens=1)
        for token in _tokens(await _events(generator, request)):
            assert token.logprob is None or token.logprob <= 0
            assert token.entropy is None or token.entropy >= 0
            if Capability.LOGPROBS in capabilities:
                assert token.logprob is not None
                assert token.top
            if Capability.ENTROPY in capabilities:
                assert token.entropy is not None

    async def test_max_tokens_bounds_the_generation(self, generator: Generator) -> None:
        events = await _events(generator, GenerateRequest(self.prompt, max_tokens=2))
        assert _end(events).generated_tokens == 2
        assert _end(events).finish_reason is FinishReason.LENGTH

    async def test_a_stop_string_ends_the_text_and_is_no_part_of_it(
        self, generator: Generator
    ) -> None:
        request = GenerateRequest(self.prompt, max_tokens=16)
        text = _text(await _events(generator, request))
        stop = text[len(text) // 2 :][:3]
        stopped = await _events(generator, replace(request, stop=("\x00", stop)))
        assert _text(stopped) == text[: text.index(stop)]
        assert _end(stopped).finish_reason is FinishReason.STOP

    async def test_the_same_request_gives_the_same_text(self, generator: Generator) -> None:
        request = GenerateRequest(self.prompt, max_tokens=16)
        first, second = await asyncio.gather(
            _events(generator, request), _events(generator, request)
        )
        assert _text(first) == _text(second)
        assert [token.id for token in _tokens(first)] == [token.id for token in _tokens(second)]

    async def test_a_prefix_is_gone_on_from(self, generator: Generator) -> None:
        request = GenerateRequest(self.prompt, max_tokens=8)
        tokens = _tokens(await _events(generator, request))
        written, rest = tokens[:3], tokens[3:]
        prefix = "".join(token.text for token in written)
        ids = tuple(token.id for token in written)
        by_ids = Capability.RESUME_BY_IDS in (await generator.describe_model()).capabilities
        go_on = replace(
            request,
            prefix=prefix,
            prefix_token_ids=ids if by_ids else (),
            max_tokens=max(1, len(rest)),
        )
        again = _tokens(await _events(generator, go_on))
        assert [token.text for token in again][: len(rest)] == [token.text for token in rest]
        assert not again or again[0].start == 0

    async def test_closing_early_leaves_the_generator_usable(self, generator: Generator) -> None:
        async with aclosing(generator.generate(GenerateRequest(self.prompt))) as events:
            async for event in events:
                if isinstance(event, Token):
                    break
        assert _tokens(await _events(generator, GenerateRequest(self.prompt, max_tokens=2)))

    async def test_a_request_for_no_tokens_is_refused(self, generator: Generator) -> None:
        with pytest.raises(InvalidRequest) as caught:
            await _events(generator, GenerateRequest(self.prompt, max_tokens=0))
        assert [each.field for each in caught.value.violations] == ["max_tokens"]

    async def test_nothing_to_go_on_from_is_refused(self, generator: Generator) -> None:
        with pytest.raises(InvalidRequest) as caught:
            await _events(generator, GenerateRequest(""))
        assert [each.field for each in caught.value.violations] == ["prompt"]

    async def test_attention_is_given_or_refused_as_promised(self, generator: Generator) -> None:
        request = AttendRequest(self.prompt, " Here is a text.")
        if Capability.ATTENTION not in (await generator.describe_model()).capabilities:
            with pytest.raises(CapabilityMissing):
                await generator.attend(request)
            return
        attention = await generator.attend(request)
        assert len(attention.weights) == len(attention.tokens) - attention.prompt_tokens
        for place, row in enumerate(attention.weights, start=attention.prompt_tokens + 1):
            assert len(row) == place
            assert sum(row) == pytest.approx(1, abs=1e-3)

    async def test_the_description_names_the_model(self, generator: Generator) -> None:
        model = await generator.describe_model()
        assert model.model
        assert model.revision
        assert model.engine
        assert model.max_total_tokens > 0
        assert model == await generator.describe_model()


async def _events(generator: Generator, request: GenerateRequest) -> list[GenerationEvent]:
    async with aclosing(generator.generate(request)) as events:
        return [event async for event in events]


def _tokens(events: Sequence[GenerationEvent]) -> list[Token]:
    return [event for event in events if isinstance(event, Token)]


def _text(events: Sequence[GenerationEvent]) -> str:
    return "".join(token.text for token in _tokens(events))


def _end(events: Sequence[GenerationEvent]) -> GenerationEnd:
    end = events[-1]
    assert isinstance(end, GenerationEnd)
    return end
