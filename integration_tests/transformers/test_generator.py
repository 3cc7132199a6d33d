"""The engine ``transformers``: the generator's suite, and the same answers as the ONNX engine."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing

import pytest

from scaar.compose import open_query_builder, open_scorer
from scaar.core.errors import CapabilityMissing, DataCorrupt, NotFound
from scaar.core.loop import AdaptiveLoop, Ports
from scaar.core.ports import Generator
from scaar.core.types import (
    AnswerFinished,
    AnswerRequest,
    AttendRequest,
    Capability,
    GenerateRequest,
    LogprobKind,
    Passage,
    PolicyRequest,
    Token,
)
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab import layout
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab.passages import passages_of
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world
from scaar.testing.conformance.generator import GeneratorConformance
from scaar.testing.fakes import InMemoryRetriever
from scaar.testing.sockets import TRANSPORTS, generator_by

WORLD = build_world(2000)
PASSAGES = {each.id: each for each in passages_of(WORLD)}
QUESTIONS = draw_questions(WORLD, count=12)
PROMPTS = [
    layout.prompt(each.question, [PASSAGES[name].text for name in each.supports][: number % 3])
    for number, each in enumerate(QUESTIONS)
]


def settings(engine: str, **more: object) -> GeneratorSettings:
    return GeneratorSettings(engine=engine, model=str(model_folder(LAB_LM)), **more)


@pytest.fixture
async def engines() -> AsyncIterator[tuple[Generator, Generator]]:
    """The same checkpoint, by transformers and by ONNX Runtime."""
    async with (
        open_generator(settings("transformers")) as ours,
        open_generator(settings("onnx")) as theirs,
    ):
        yield ours, theirs


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("prefix_cache_mb", [64, 0])
class TestTransformersGenerator(GeneratorConformance):
    prompt = "Question: Who directed the film The Painted Voyage of Olstead?\nAnswer:"
    logprob_tolerance = 1e-5

    @pytest.fixture
    async def generator(self, transport: str, prefix_cache_mb: int) -> AsyncIterator[Generator]:
        asked = settings("transformers", prefix_cache_mb=prefix_cache_mb)
        async with (
            open_generator(asked) as engine,
            generator_by(transport, engine) as generator,
        ):
            yield generator


async def written(generator: Generator, prompt: str) -> list[Token]:
    async with aclosing(generator.generate(GenerateRequest(prompt, max_tokens=64))) as events:
        return [event async for event in events if isinstance(event, Token)]


async def test_every_token_is_that_of_the_onnx_engine_and_its_numbers_to_1e_4(engines) -> None:
    ours, theirs = engines
    for prompt in PROMPTS:
        mine, other = await written(ours, prompt), await written(theirs, prompt)
        assert [(each.id, each.text, each.start) for each in mine] == [
            (each.id, each.text, each.start) for each in other
        ]
        assert len(mine) > 5
        for one, two in zip(mine, other, strict=True):
            assert one.logprob == pytest.approx(two.logprob, abs=1e-4)
            assert one.entropy == pytest.approx(two.entropy, abs=1e-4)


async def test_the_attention_is_that_of_the_onnx_engine(engines) -> None:
    ours, theirs = engines
    asked = AttendRequest(PROMPTS[0], " The film The Painted Voyage of Olstead was directed")
    mine, other = await ours.attend(asked), await theirs.attend(asked)
    assert mine.tokens == other.tokens
    for one, two in zip(mine.weights, other.weights, strict=True):
        assert one == pytest.approx(two, abs=1e-4)


async def test_what_the_engine_is_and_gives(engines) -> None:
    told = await engines[0].describe_model()
    assert (told.model, told.engine, told.logprob_kind) == (
        "lab-lm",
        "transformers",
        LogprobKind.RAW,
    )
    assert told.capabilities == frozenset(Capability)
    assert told.prompt_profile == "lab"
    assert {each.policy for each in told.recommended} >= {"scaar", "flare"}
    assert told.revision


async def test_without_attention_the_model_says_so() -> None:
    async with open_generator(settings("transformers", attention=False)) as generator:
        told = await generator.describe_model()
        assert Capability.ATTENTION not in told.capabilities
        with pytest.raises(CapabilityMissing, match="gives no attention"):
            await generator.attend(AttendRequest("a", " b"))


@pytest.mark.parametrize("policy", ["scaar", "flare", "ircot"])
async def test_the_loop_answers_as_with_the_onnx_engine(engines, policy: str) -> None:
    passages = [Passage(each.id, each.title, each.text) for each in PASSAGES.values()]
    answers: list[list[str]] = [[], []]
    async with AsyncExitStack() as stack:
        scorer = await stack.enter_async_context(open_scorer())
        builder = await stack.enter_async_context(open_query_builder())
        retriever = InMemoryRetriever({"lab": passages})
        for generator, texts in zip(engines, answers, strict=True):
            loop = AdaptiveLoop(Ports(generator, scorer, builder, retriever))
            for question in QUESTIONS[:4]:
                asked = AnswerRequest(question.question, PolicyRequest(policy))
                async with aclosing(loop.stream_answer(asked)) as events:
                    async for event in events:
                        if isinstance(event, AnswerFinished):
                            texts.append(event.answer.text)
    assert answers[0] == answers[1]
    assert len(answers[0]) == 4


async def test_a_model_that_is_not_there_is_told(tmp_path) -> None:
    missing = GeneratorSettings(engine="transformers", model=str(tmp_path / "none"))
    with pytest.raises(NotFound, match="transformers finds no such model"):
        async with open_generator(missing):
            pass


async def test_a_checkpoint_that_is_no_causal_model_is_told(tmp_path) -> None:
    folder = tmp_path / "odd"
    shutil.copytree(model_folder(LAB_LM), folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "nothing-known"}))
    with pytest.raises((NotFound, DataCorrupt), match="transformers"):
        async with open_generator(GeneratorSettings(engine="transformers", model=str(folder))):
            pass
