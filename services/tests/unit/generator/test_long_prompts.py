"""Prompts of any length: refused before they are read, or read off the event loop."""

import asyncio
import threading
from dataclasses import replace

import pytest

from scaar.core.errors import PromptTooLong
from scaar.core.types import AttendRequest, GenerateRequest
from scaar.encoders.tokenizer import token_ids
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.vocabulary import build_tokenizer

CONTEXT = 128
LIMIT = CONTEXT * max(map(len, build_tokenizer().get_vocab()))
HUGE = "Who is it? " * 400_000
"""4.4 MB, for which the lab's tokenizer needs seconds."""


class WatchedTokenizer:
    """A tokenizer that notes in which thread it reads texts."""

    def __init__(self, tokenizer):
        self._tokenizer = tokenizer
        self.threads = []

    def __getattr__(self, name):
        found = getattr(self._tokenizer, name)
        if not name.startswith("encode"):
            return found

        def called(*args, **kwargs):
            self.threads.append(threading.current_thread())
            return found(*args, **kwargs)

        return called


@pytest.fixture
async def watched(language_model_folder):
    """A generator, and its tokenizer."""
    async with open_onnx_generator(GeneratorSettings(model=language_model_folder)) as generator:
        tokenizer = WatchedTokenizer(generator._model.tokenizer)
        generator._model = replace(generator._model, tokenizer=tokenizer)
        yield generator, tokenizer


async def generate(generator, **fields):
    return [event async for event in generator.generate(GenerateRequest(**fields))]


TOO_LONG = [
    ({"prompt": HUGE}, "prompt", LIMIT, len(HUGE)),
    ({"prompt": "Who?", "prefix": HUGE}, "prefix", LIMIT, len(HUGE) + 4),
    ({"prompt": "x" * (LIMIT - 9), "prefix": "y" * 10}, "prompt", LIMIT, LIMIT + 1),
    ({"prompt": "a", "prefix_token_ids": (5,) * 129}, "prefix_token_ids", CONTEXT, 129),
]


@pytest.mark.parametrize(("fields", "field", "limit", "given"), TOO_LONG)
async def test_a_prompt_that_cannot_fit_is_rejected_without_tokenization(
    watched, fields, field, limit, given
):
    generator, tokenizer = watched
    with pytest.raises(PromptTooLong) as refused:
        await generate(generator, **fields)
    assert [each.field for each in refused.value.violations] == [field]
    assert f"at most {limit:,} " in refused.value.message
    assert f"not {given:,}" in refused.value.message
    assert tokenizer.threads == []


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (AttendRequest(HUGE, "a"), "prompt"),
        (AttendRequest("a", HUGE), "text"),
        (AttendRequest("a", "b", (5,) * 129), "text_token_ids"),
    ],
)
async def test_an_attention_request_that_cannot_fit_is_rejected_without_tokenization(
    watched, request_, field
):
    generator, tokenizer = watched
    with pytest.raises(PromptTooLong) as refused:
        await generator.attend(request_)
    assert [each.field for each in refused.value.violations] == [field]
    assert tokenizer.threads == []


async def test_a_prompt_within_the_limit_is_counted_in_tokens(watched):
    generator, tokenizer = watched
    with pytest.raises(PromptTooLong, match="at most 127 tokens"):
        await generate(generator, prompt="x" * LIMIT)
    assert tokenizer.threads


async def test_no_text_is_tokenised_on_the_event_loop(watched):
    generator, tokenizer = watched
    await generate(generator, prompt="Who?", max_tokens=4, top_tokens=2, stop=("no",))
    await generate(generator, prompt="Who?", prefix=" It is", max_tokens=4, attention=True)
    await generate(generator, prompt="Who?", prefix=" It", prefix_token_ids=(5,), max_tokens=2)
    await generator.attend(AttendRequest("Who?", " It is", (5, 6)))
    assert len(tokenizer.threads) > 5
    assert threading.current_thread() not in tokenizer.threads


async def test_the_event_loop_runs_while_a_long_text_is_tokenised():
    """An encoder that keeps the interpreter's lock leaves the loop no turn but one at each end."""
    tokenizer, text, turns = build_tokenizer(), HUGE[:400_000], 0

    def turns_while_reading():
        before = turns
        assert len(token_ids(tokenizer, text)) > len(text) // 4
        return turns - before

    reading = asyncio.create_task(asyncio.to_thread(turns_while_reading))
    while not reading.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert await reading > 20
