"""Conformance suite of generators."""

import asyncio
import itertools
import math
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest, PromptTooLong
from scaar.core.ports import Generator
from scaar.core.types import (
    AttendRequest,
    AttentionKind,
    Capability,
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationStart,
    LogprobsRequest,
    Token,
)

_WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("prompt", {"prompt": ""}),
    ("prompt", {"prompt": "half \ud800"}),
    ("prefix", {"prefix": "half \udc00"}),
    ("prefix_token_ids", {"prefix": "a", "prefix_token_ids": (-1,)}),
    ("prefix_token_ids", {"prefix": "a", "prefix_token_ids": (0, 2**31 - 1)}),
    ("max_tokens", {"max_tokens": 0}),
    ("max_tokens", {"max_tokens": -1}),
    ("max_tokens", {"max_tokens": 1025}),
    ("stop", {"stop": ("",)}),
    ("stop", {"stop": ("half \ud800",)}),
    ("stop", {"stop": ("x" * 257,)}),
    ("stop", {"stop": tuple("abcdefghijklmnopq")}),
    ("top_tokens", {"top_tokens": -1}),
    ("top_tokens", {"top_tokens": 21}),
    ("temperature", {"temperature": -0.1}),
    ("temperature", {"temperature": 2.1}),
    ("temperature", {"temperature": math.nan}),
    ("seed", {"seed": -1}),
    ("seed", {"seed": 2**31}),
    ("n", {"n": 0, "temperature": 1.0}),
    ("n", {"n": 21, "temperature": 1.0}),
    ("n", {"n": 2}),
    ("named_tokens", {"named_tokens": ("",)}),
    ("named_tokens", {"named_tokens": ("half \ud800",)}),
    ("named_tokens", {"named_tokens": ("x" * 257,)}),
    ("named_tokens", {"named_tokens": tuple("abcdefghijklmnopqrstu")}),
)
"""Requests with one wrong field each, and the name of the field."""


class GeneratorConformance:
    """Derive from this class; provide the fixture ``generator`` and a prompt for the model.

    The suite only assumes a minimum length of the generated text::

        @pytest.mark.parametrize("transport", TRANSPORTS)
        class TestMyGenerator(GeneratorConformance):
            prompt = "The first programmer was"

            @pytest.fixture
            async def generator(self, transport):
                async with open_my_engine() as engine, generator_by(transport, engine) as given:
                    yield given
    """

    prompt = "Question: where?\nAnswer:"
    """Prompt that the model continues with at least six tokens in at least three words."""

    logprob_tolerance = 1e-5
    """Maximum difference of the log-probabilities of a text that is read in different steps."""

    @pytest.fixture
    def generator(self) -> Generator:
        """The generator under test."""
        raise NotImplementedError

    # --- the stream ---------------------------------------------------------------------------

    async def test_a_generation_is_a_start_if_any_then_tokens_then_one_end(
        self, generator: Generator
    ) -> None:
        events = await self._write(generator)
        starts = [event for event in events[:1] if isinstance(event, GenerationStart)]
        tokens = events[len(starts) : -1]
        assert all(isinstance(event, Token) for event in tokens)
        assert len(tokens) >= 6, "set a prompt that more follows"
        assert all(start.prompt_tokens == _end(events).prompt_tokens for start in starts)

    async def test_spans_follow_one_another_and_cover_the_text(self, generator: Generator) -> None:
        whole = _tokens(await self._write(generator))
        rest = _tokens(await self._write(generator, **_after(whole[:2])))
        for tokens in (whole, rest):
            assert tokens[0].start == 0
            assert all(one.end == two.start for one, two in itertools.pairwise(tokens))
            assert all(token.end - token.start == len(token.text) for token in tokens)

    async def test_the_end_counts_what_was_read_and_written(self, generator: Generator) -> None:
        events = await self._write(generator)
        assert _end(events).prompt_tokens >= 1
        assert _end(events).generated_tokens >= len(_tokens(events))
        longer = await self._write(generator, **_after(_tokens(events)[:3]))
        assert _end(longer).prompt_tokens > _end(events).prompt_tokens

    @pytest.mark.parametrize("max_tokens", [1, 2, 5])
    async def test_max_tokens_bounds_the_generation(
        self, generator: Generator, max_tokens: int
    ) -> None:
        end = _end(await self._write(generator, max_tokens=max_tokens))
        assert end.generated_tokens == max_tokens
        assert end.finish_reason is FinishReason.LENGTH

    async def test_logprobs_are_returned_if_declared(self, generator: Generator) -> None:
        capabilities = (await generator.describe_model()).capabilities
        for token in _tokens(await self._write(generator, top_tokens=1)):
            assert token.logprob is None or token.logprob <= 0
            assert token.entropy is None or token.entropy >= 0
            assert all(each.logprob <= 0 for each in token.top)
            if Capability.LOGPROBS in capabilities:
                assert token.logprob is not None
                assert token.top
            if Capability.ENTROPY in capabilities:
                assert token.entropy is not None

    # --- stop strings -------------------------------------------------------------------------

    @pytest.mark.parametrize("length", [1, 3, 8])
    async def test_a_stop_string_ends_the_text_and_is_no_part_of_it(
        self, generator: Generator, length: int
    ) -> None:
        text = _text(await self._write(generator))
        middle = len(text) // 2
        for start in range(middle, middle + 4):  # at a token's beginning and within one
            stop = text[start : start + length]
            stopped = await self._write(generator, stop=("\x00", stop))
            assert _text(stopped) == text[: text.index(stop)]
            assert _end(stopped).finish_reason is FinishReason.STOP

    async def test_the_stop_string_that_comes_first_ends_the_text(
        self, generator: Generator
    ) -> None:
        text = _text(await self._write(generator))
        late, early = text[-3:], text[len(text) // 2 :][:4]
        stopped = await self._write(generator, stop=(late, early))
        assert _text(stopped) == text[: min(text.index(late), text.index(early))]

    async def test_an_absent_stop_string_changes_nothing(self, generator: Generator) -> None:
        plain = await self._write(generator)
        begun = _text(plain)[-1:] + "\x00"
        stopped = await self._write(generator, stop=(begun, "\x00"))
        assert _text(stopped) == _text(plain)
        assert _end(stopped) == _end(plain)

    # --- one text, requested in different ways -------------------------------------------------

    async def test_the_same_request_has_the_same_answer(self, generator: Generator) -> None:
        first, second = await self._write(generator), await self._write(generator)
        self._assert_alike(_tokens(second), _tokens(first))
        assert _end(second) == _end(first)

    async def test_a_prefix_is_continued_by_its_text(self, generator: Generator) -> None:
        whole = _tokens(await self._write(generator))
        for cut in _word_starts(whole):
            rest = await self._write(
                generator, prefix=_text(whole[:cut]), max_tokens=len(whole) - cut
            )
            assert _text(rest) == _text(whole[cut:])

    async def test_a_prefix_is_continued_by_its_ids(self, generator: Generator) -> None:
        whole = _tokens(await self._write(generator))
        by_ids = Capability.RESUME_BY_IDS in (await generator.describe_model()).capabilities
        for cut in range(1, len(whole)) if by_ids else _word_starts(whole):
            rest = await self._write(generator, **_after(whole[:cut]), max_tokens=len(whole) - cut)
            self._assert_alike(_tokens(rest), whole[cut:])

    async def test_concurrent_generations_equal_separate_ones(self, generator: Generator) -> None:
        whole = _tokens(await self._write(generator))
        cuts = [0, *_word_starts(whole)]
        together = await asyncio.gather(
            *(
                self._write(generator, **_after(whole[:cut]), max_tokens=len(whole) - cut)
                for cut in cuts * 2
            )
        )
        for cut, events in zip(cuts * 2, together, strict=True):
            self._assert_alike(_tokens(events), whole[cut:])

    async def test_eight_concurrent_generations_equal_sequential_ones(
        self, generator: Generator
    ) -> None:
        capabilities = (await generator.describe_model()).capabilities
        gives_attention = Capability.ATTENTION in capabilities
        # Half of them have attention: generations must not mix up their attention.
        asked: list[dict[str, Any]] = [
            {"prompt": prompt, "max_tokens": 8, "attention": gives_attention and place % 2 == 1}
            for place, prompt in enumerate(self._eight_prompts())
        ]
        alone = [await self._write(generator, **fields) for fields in asked]
        together = await asyncio.gather(*(self._write(generator, **fields) for fields in asked))
        for mine, before in zip(together, alone, strict=True):
            self._assert_same_events(mine, before)

    async def test_eight_concurrent_attentions_equal_sequential_ones(
        self, generator: Generator
    ) -> None:
        requests = [
            AttendRequest(prompt, " Here is a text of several words." + " And more." * place)
            for place, prompt in enumerate(self._eight_prompts())
        ]
        if Capability.ATTENTION not in (await generator.describe_model()).capabilities:
            answers = await asyncio.gather(
                *(generator.attend(request) for request in requests), return_exceptions=True
            )
            assert {type(each) for each in answers} == {CapabilityMissing}
            return
        alone = [await generator.attend(request) for request in requests]
        together = await asyncio.gather(*(generator.attend(request) for request in requests))
        for mine, before in zip(together, alone, strict=True):
            assert (mine.tokens, mine.prompt_tokens) == (before.tokens, before.prompt_tokens)
            for row, expected in zip(mine.weights, before.weights, strict=True):
                assert row == pytest.approx(expected, abs=self.logprob_tolerance)

    # --- sampling -----------------------------------------------------------------------------

    async def test_samples_follow_one_another_with_an_end_each(self, generator: Generator) -> None:
        if not await self._has(generator, Capability.SAMPLING):
            with pytest.raises(CapabilityMissing):
                await self._write(generator, temperature=1.0)
            return
        events = await self._write(generator, temperature=1.0, n=3, max_tokens=6)
        starts = [event for event in events if isinstance(event, GenerationStart)]
        assert len(starts) <= 1
        numbers = [event.sample for event in events if isinstance(event, Token | GenerationEnd)]
        assert numbers == sorted(numbers)
        ends = [event for event in events if isinstance(event, GenerationEnd)]
        assert [end.sample for end in ends] == [0, 1, 2]
        assert events[-1] is ends[-1]

    async def test_a_sample_is_the_one_of_its_seed(self, generator: Generator) -> None:
        if not await self._has(generator, Capability.SEED):
            with pytest.raises(CapabilityMissing):
                await self._write(generator, temperature=1.0, seed=7)
            return
        fields: dict[str, Any] = {"temperature": 1.5, "max_tokens": 8}
        together = _tokens(await self._write(generator, **fields, seed=7, n=3))
        again = _tokens(await self._write(generator, **fields, seed=7, n=3))
        self._assert_alike(again, together)
        for sample in range(3):
            alone = _tokens(await self._write(generator, **fields, seed=7 + sample))
            self._assert_alike(alone, [each for each in together if each.sample == sample])
            assert {each.sample for each in alone} == {0}

    async def test_greedy_decoding_ignores_the_seed(self, generator: Generator) -> None:
        if await self._has(generator, Capability.SEED):
            plain = _tokens(await self._write(generator))
            self._assert_alike(_tokens(await self._write(generator, seed=3)), plain)

    async def test_a_nearly_greedy_sample_has_the_numbers_of_greedy_decoding(
        self, generator: Generator
    ) -> None:
        if await self._has(generator, Capability.SAMPLING):
            plain = _tokens(await self._write(generator))
            cold = _tokens(await self._write(generator, temperature=1e-3))
            assert [token.text for token in cold] == [token.text for token in plain]
            for left, right in zip(cold, plain, strict=True):
                if left.logprob is not None:
                    assert left.logprob == pytest.approx(right.logprob, abs=1e-4)

    # --- named tokens, given texts, hidden states ----------------------------------------------

    async def test_named_tokens_have_their_logprob_at_every_position(
        self, generator: Generator
    ) -> None:
        whole = _tokens(await self._write(generator))
        names = (whole[1].text, whole[0].text)
        if not await self._has(generator, Capability.NAMED_TOKENS):
            with pytest.raises(CapabilityMissing):
                await self._write(generator, named_tokens=names)
            return
        named = _tokens(await self._write(generator, named_tokens=names))
        self._assert_alike(named, whole)
        assert all(tuple(each.text for each in token.named) == names for token in named)
        assert all(each.logprob <= 0 for token in named for each in token.named)
        for place in (0, 1):
            chosen = named[place].named[1 - place]
            assert chosen.logprob == pytest.approx(named[place].logprob, abs=1e-9)

    async def test_a_written_text_has_the_logprobs_with_which_it_was_written(
        self, generator: Generator
    ) -> None:
        whole = _tokens(await self._write(generator))
        cut = _word_starts(whole)[-1]
        tokens = whole[:cut]
        request = LogprobsRequest(self.prompt, _text(tokens), tuple(token.id for token in tokens))
        if not await self._has(generator, Capability.TEXT_LOGPROBS):
            with pytest.raises(CapabilityMissing):
                await generator.compute_logprobs(request)
            return
        found = await generator.compute_logprobs(request)
        assert _text(found.tokens) == _text(tokens)
        assert found.prompt_tokens >= 1
        self._assert_written(found.tokens, tokens)
        for wrong in (replace(request, text=""), replace(request, top_tokens=-1)):
            with pytest.raises(InvalidRequest):
                await generator.compute_logprobs(wrong)

    async def test_hidden_states_come_with_the_tokens_if_declared(
        self, generator: Generator
    ) -> None:
        model = await generator.describe_model()
        if Capability.HIDDEN_STATES not in model.capabilities:
            assert model.hidden_layers is None
            with pytest.raises(CapabilityMissing):
                await self._write(generator, hidden_layer=0)
            return
        assert model.hidden_layers is not None
        plain = _tokens(await self._write(generator))
        states = []
        for layer in range(model.hidden_layers + 1):
            tokens = _tokens(await self._write(generator, hidden_layer=layer))
            self._assert_alike(tokens, plain)
            (first,) = _tokens(await self._write(generator, hidden_layer=layer, max_tokens=1))
            assert first.hidden_state == pytest.approx(tokens[0].hidden_state, abs=1e-4)
            states.append(tuple(token.hidden_state for token in tokens))
        assert len({len(state) for layer in states for state in layer}) == 1
        assert len(set(states)) == len(states)
        assert not any(token.hidden_state for token in plain)
        for wrong in (-1, model.hidden_layers + 1):
            with pytest.raises(InvalidRequest) as caught:
                await self._write(generator, hidden_layer=wrong)
            assert [each.field for each in caught.value.violations] == ["hidden_layer"]

    # --- closing early ------------------------------------------------------------------------

    @pytest.mark.parametrize("after", [0, 1, 3])
    async def test_closing_early_leaves_the_generator_as_it_was(
        self, generator: Generator, after: int
    ) -> None:
        whole = _tokens(await self._write(generator))
        async with aclosing(generator.generate(self._request())) as events:
            async for event in events:
                if isinstance(event, Token) and event.start >= whole[after].start:
                    break
        self._assert_alike(_tokens(await self._write(generator)), whole)

    async def test_closing_one_generation_leaves_the_others_alone(
        self, generator: Generator
    ) -> None:
        whole = _tokens(await self._write(generator))
        async with aclosing(generator.generate(self._request())) as going_on:
            first = await anext(going_on)
            async with aclosing(generator.generate(self._request())) as closed:
                await anext(closed)
            events = [first, *[event async for event in going_on]]
        self._assert_alike(_tokens(events), whole)

    async def test_cancelling_a_reader_leaves_the_generator_as_it_was(
        self, generator: Generator
    ) -> None:
        whole, begun = _tokens(await self._write(generator)), asyncio.Event()

        async def read() -> None:
            async with aclosing(generator.generate(self._request())) as events:
                async for _ in events:
                    begun.set()

        reader = asyncio.create_task(read())
        await begun.wait()
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
        self._assert_alike(_tokens(await self._write(generator)), whole)

    # --- invalid requests ---------------------------------------------------------------------

    async def test_a_wrong_field_is_named_before_any_event(self, generator: Generator) -> None:
        for field, fields in _WRONG:
            seen: list[GenerationEvent] = []
            with pytest.raises(InvalidRequest) as caught:
                await self._write(generator, into=seen, **fields)
            (wrong,) = caught.value.violations
            # A server names the item over the contract's limit before it parses the request.
            assert wrong.field in (field, f"{field}[0]"), fields
            assert seen == [], fields

    async def test_every_wrong_field_is_named_together(self, generator: Generator) -> None:
        with pytest.raises(InvalidRequest) as caught:
            await self._write(generator, prompt="", max_tokens=0, stop=("",), top_tokens=-1)
        fields = sorted(each.field for each in caught.value.violations)
        assert fields == ["max_tokens", "prompt", "stop", "top_tokens"]

    async def test_a_prompt_that_exceeds_the_context_is_refused(self, generator: Generator) -> None:
        limit = (await generator.describe_model()).max_total_tokens
        seen: list[GenerationEvent] = []
        with pytest.raises(PromptTooLong) as caught:
            await self._write(generator, into=seen, prompt="a b " * limit)
        assert [each.field for each in caught.value.violations] == ["prompt"]
        assert seen == []

    # --- attention and description ------------------------------------------------------------

    async def test_attention_is_returned_or_refused_as_declared(self, generator: Generator) -> None:
        request = AttendRequest(self.prompt, " Here is a text.")
        if Capability.ATTENTION not in (await generator.describe_model()).capabilities:
            with pytest.raises(CapabilityMissing):
                await generator.attend(request)
            return
        attention = await generator.attend(request)
        assert len(attention.weights) == len(attention.tokens) - attention.prompt_tokens
        assert attention.prompt_tokens >= 1
        for place, row in enumerate(attention.weights, start=attention.prompt_tokens + 1):
            assert len(row) == place
            assert sum(row) == pytest.approx(1, abs=1e-3)
        for wrong in (replace(request, text=""), replace(request, prompt="half \ud800")):
            with pytest.raises(InvalidRequest):
                await generator.attend(wrong)
        limit = (await generator.describe_model()).max_total_tokens
        for wrong in (replace(request, text="a b " * limit), replace(request, prompt="a " * limit)):
            with pytest.raises(PromptTooLong):
                await generator.attend(wrong)

    async def test_received_attention_is_returned_or_refused_as_declared(
        self, generator: Generator
    ) -> None:
        paying = AttendRequest(self.prompt, " Here is a text.")
        receiving = replace(paying, attention=AttentionKind.MAX_THEN_MEAN)
        if Capability.ATTENTION not in (await generator.describe_model()).capabilities:
            with pytest.raises(CapabilityMissing):
                await generator.attend(receiving)
            return
        rows, found = await generator.attend(paying), await generator.attend(receiving)
        assert (found.tokens, found.prompt_tokens) == (rows.tokens, rows.prompt_tokens)
        assert found.weights == ()
        assert rows.received == ()
        # The maximum of a mean is at most the mean of the maxima.
        least = [
            max(row[at] for row in rows.weights if at < len(row))
            for at in range(rows.prompt_tokens, len(rows.tokens))
        ]
        for received, most in zip(found.received, least, strict=True):
            assert most - self.logprob_tolerance <= received <= 1 + self.logprob_tolerance
        ended = await generator.attend(replace(receiving, ended=True))
        assert ended.tokens == found.tokens
        for more, received in zip(ended.received, found.received, strict=True):
            assert more >= received - self.logprob_tolerance
        with pytest.raises(InvalidRequest) as caught:
            await generator.attend(replace(paying, ended=True))
        assert [each.field for each in caught.value.violations] == ["ended"]

    async def test_tokens_have_attention_if_declared(self, generator: Generator) -> None:
        if Capability.ATTENTION not in (await generator.describe_model()).capabilities:
            with pytest.raises(CapabilityMissing):
                await self._write(generator, attention=True)
            return
        plain = await self._write(generator, max_tokens=8)
        events = await self._write(generator, max_tokens=8, attention=True)
        tokens, start, end = _tokens(events), events[0], _end(events)
        self._assert_alike(tokens, _tokens(plain))
        assert not any(token.attention for token in _tokens(plain))
        assert isinstance(start, GenerationStart)
        assert "".join(token.text for token in start.tokens).strip() == self.prompt.strip()
        text = AttendRequest(self.prompt, _text(events), tuple(token.id for token in tokens))
        attended = await generator.attend(text)
        # A token has the attention of the previous token, so that the rows are shifted by one.
        rows = [token.attention for token in tokens[1:]]
        if end.finish_reason is FinishReason.END_OF_SEQUENCE:
            rows.append(end.attention)
        for place, (came, asked) in enumerate(zip(rows, attended.weights, strict=False), 1):
            assert len(came) == len(start.tokens) + place
            assert came == pytest.approx(asked, abs=self.logprob_tolerance)

    async def test_calls_of_an_answer_are_the_same_after_calls_of_others(
        self, generator: Generator
    ) -> None:
        """What the engine keeps for an answer is kept apart from other answers."""

        async def answered(answer_id: str, *, first: str) -> list[list[GenerationEvent]]:
            calls = [await self._write(generator, prompt=first + self.prompt, answer_id=answer_id)]
            text = _text(calls[0])
            calls.append(await self._write(generator, prefix=text, answer_id=answer_id))
            await generator.release_answer(answer_id)
            return calls

        expected = await answered("one", first="")
        await answered("two", first="Well then. ")
        for came, before in zip(await answered("three", first=""), expected, strict=True):
            self._assert_same_events(came, before)

    async def test_the_description_names_the_model(self, generator: Generator) -> None:
        model = await generator.describe_model()
        assert model.model
        assert model.revision
        assert model.engine
        assert model.max_total_tokens > 0
        assert model == await generator.describe_model()

    def _assert_written(self, read: Sequence[Token], written: Sequence[Token]) -> None:
        """Assert that a text that is read has the tokens with which it was written."""
        assert [(token.text, token.start) for token in read] == [
            (token.text, token.start) for token in written
        ]
        for left, right in zip(read, written, strict=True):
            assert left.logprob == pytest.approx(right.logprob, abs=self.logprob_tolerance)

    # --- requests of the suite ----------------------------------------------------------------

    def _request(self, **fields: Any) -> GenerateRequest:
        return replace(GenerateRequest(self.prompt, max_tokens=16), **fields)

    async def _has(self, generator: Generator, capability: Capability) -> bool:
        return capability in (await generator.describe_model()).capabilities

    async def _write(
        self, generator: Generator, *, into: list[GenerationEvent] | None = None, **fields: Any
    ) -> list[GenerationEvent]:
        """Return the events of the suite's request with these fields changed."""
        written = [] if into is None else into
        async with aclosing(generator.generate(self._request(**fields))) as events:
            async for event in events:
                written.append(event)
        return written

    def _eight_prompts(self) -> list[str]:
        """Return prompts of different lengths, so that mixed-up events are noticed."""
        return [f"{'Well then. ' * place}{self.prompt}" for place in range(8)]

    def _assert_same_events(
        self, one: Sequence[GenerationEvent], other: Sequence[GenerationEvent]
    ) -> None:
        """Assert that the events are the same, including all numbers."""
        ours, theirs = _tokens(one), _tokens(other)
        self._assert_alike(ours, theirs)
        for left, right in zip(ours, theirs, strict=True):
            assert (left.start, left.end) == (right.start, right.end)
            assert left.entropy == pytest.approx(right.entropy, abs=self.logprob_tolerance)
            assert left.attention == pytest.approx(right.attention, abs=self.logprob_tolerance)
        end, expected = _end(one), _end(other)
        assert replace(end, attention=()) == replace(expected, attention=())
        assert end.attention == pytest.approx(expected.attention, abs=self.logprob_tolerance)
        # A busy server may omit the token count of a prompt.
        if isinstance(one[0], GenerationStart) and isinstance(other[0], GenerationStart):
            assert one[0] == other[0]

    def _assert_alike(self, one: Sequence[Token], other: Sequence[Token]) -> None:
        """Assert that the tokens and their probabilities are the same."""
        assert [(token.id, token.text) for token in one] == [
            (token.id, token.text) for token in other
        ]
        for left, right in zip(one, other, strict=True):
            assert left.logprob == pytest.approx(right.logprob, abs=self.logprob_tolerance)


def _tokens(events: Sequence[GenerationEvent]) -> list[Token]:
    return [event for event in events if isinstance(event, Token)]


def _text(events: Sequence[GenerationEvent]) -> str:
    return "".join(token.text for token in _tokens(events))


def _end(events: Sequence[GenerationEvent]) -> GenerationEnd:
    end = events[-1]
    assert isinstance(end, GenerationEnd)
    return end


def _after(tokens: Sequence[Token]) -> dict[str, Any]:
    """Return the fields of a request that continues these tokens."""
    return {"prefix": _text(tokens), "prefix_token_ids": tuple(token.id for token in tokens)}


def _word_starts(tokens: Sequence[Token]) -> list[int]:
    """Return the start of a word: a text cut there has the same tokens when it is read again."""
    starts = [at for at, token in enumerate(tokens) if at and token.text[:1].isspace()]
    assert len(starts) >= 2, "set a prompt that more words follow"
    return starts[:3]
