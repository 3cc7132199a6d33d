"""Concurrent calls to the engine ``transformers`` answer as the same calls one after another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from scaar.compose import open_query_builder, open_scorer
from scaar.core.errors import BackendUnavailable, Overloaded
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import Generator
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    AttendRequest,
    GenerateRequest,
    Passage,
    PolicyRequest,
    Token,
)
from scaar.generator.engines.decoding.torch_decoder import TorchDecoder
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab import layout
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.passages import passages_of
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world
from scaar.testing.fakes import InMemoryRetriever

WORLD = build_world(2000)
PASSAGES = [Passage(each.id, each.title, each.text) for each in passages_of(WORLD)]
QUESTIONS = [each.question for each in draw_questions(WORLD, count=8)]
CALLS = 240


@pytest.fixture
async def generator() -> AsyncIterator[Generator]:
    settings = GeneratorSettings(
        engine="transformers", model=str(model_folder(LAB_LM)), workers=4, max_concurrent=CALLS
    )
    async with open_generator(settings) as opened:
        yield opened


async def test_every_one_of_240_concurrent_attentions_is_right(generator: Generator) -> None:
    requests = [
        AttendRequest(layout.prompt(question, []), " It was a film." * (place + 1))
        for place, question in enumerate(QUESTIONS)
    ]
    alone = [await generator.attend(request) for request in requests]
    together = await asyncio.gather(
        *(generator.attend(requests[number % 8]) for number in range(CALLS))
    )
    for number, found in enumerate(together):
        expected = alone[number % 8]
        assert found.tokens == expected.tokens
        for row, before in zip(found.weights, expected.weights, strict=True):
            assert np.allclose(row, before, rtol=0, atol=1e-6)


@pytest.mark.parametrize("policy", ["dragin", "dragin_reference"])
async def test_eight_concurrent_questions_are_answered_as_each_alone(
    generator: Generator, policy: str
) -> None:
    async with AsyncExitStack() as stack:
        scorer = await stack.enter_async_context(open_scorer())
        builder = await stack.enter_async_context(open_query_builder())
        retriever = InMemoryRetriever({"lab": PASSAGES})
        loop = AdaptiveLoop(Ports(generator, scorer, builder, retriever), default_index="lab")

        async def answer(question: str) -> Answer:
            requested = AnswerRequest(question, PolicyRequest(policy))
            async with aclosing(loop.stream_answer(requested)) as events:
                *_, last = [event async for event in events]
            assert isinstance(last, AnswerFinished)
            return last.answer

        alone = [await answer(question) for question in QUESTIONS]
        together = await asyncio.gather(*map(answer, QUESTIONS))
    assert [each.sentences for each in together] == [each.sentences for each in alone]
    assert any(each.usage.retrievals for each in alone)


@pytest.mark.parametrize("attention", [False, True])
async def test_a_batch_writes_what_each_generation_writes_alone(
    generator: Generator, attention: bool
) -> None:
    requests = [
        GenerateRequest(
            layout.prompt(question, [each.text for each in PASSAGES[: number % 3]]),
            max_tokens=24,
            attention=attention,
        )
        for number, question in enumerate(QUESTIONS)
    ]
    alone = [await tokens_of(generator, request) for request in requests]
    settings = GeneratorSettings(
        engine="transformers", model=str(model_folder(LAB_LM)), max_batch=len(requests)
    )
    async with open_generator(settings) as batched:
        for _ in range(2):
            together = await asyncio.gather(*(tokens_of(batched, each) for each in requests))
            for found, expected in zip(together, alone, strict=True):
                assert [each.id for each in found] == [each.id for each in expected]
                for one, other in zip(found, expected, strict=True):
                    assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
                    assert one.attention == pytest.approx(other.attention, abs=1e-4)


async def tokens_of(generator: Generator, request: GenerateRequest) -> list[Token]:
    events = [event async for event in generator.generate(request)]
    return [event for event in events if isinstance(event, Token)]


@pytest.fixture(scope="module")
def decoder() -> TorchDecoder:
    model = AutoModelForCausalLM.from_pretrained(
        str(model_folder(LAB_LM)), attn_implementation="eager"
    )
    return TorchDecoder(model.eval(), gives_attention=True)


def test_a_failed_step_is_an_error_and_leaves_the_model_unchanged(
    decoder: TorchDecoder,
) -> None:
    forwards = [module.forward for module in decoder.network.modules()]
    _, expected, _ = decoder.step_attending([5, 6, 7], decoder.begin())
    no_token = decoder.network.config.vocab_size
    with pytest.raises(BackendUnavailable, match="IndexError"):
        decoder.step_attending([5, no_token, 7], decoder.begin())
    assert [module.forward for module in decoder.network.modules()] == forwards
    _, weights, _ = decoder.step_attending([5, 6, 7], decoder.begin())
    assert weights.tolist() == expected.tolist()


def test_a_device_without_memory_is_reported_as_overload(decoder: TorchDecoder) -> None:
    def exhaust(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    layer = decoder.network.get_output_embeddings()
    hook = layer.register_forward_pre_hook(exhaust)
    try:
        with pytest.raises(Overloaded, match="out of memory"):
            decoder.step([5, 6], decoder.begin())
    finally:
        hook.remove()
    decoder.step([5, 6], decoder.begin())
