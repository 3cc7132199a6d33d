"""The engine ``transformers``: the generator's suite, and the same answers as the ONNX engine."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing

import pytest

from scaar.compose import open_query_builder, open_scorer
from scaar.core.errors import CapabilityMissing, DataCorrupt, NotFound
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import Generator
from scaar.core.types import (
    AnswerFinished,
    AnswerRequest,
    AttendRequest,
    Capability,
    GenerateRequest,
    LogprobKind,
    LogprobsRequest,
    Passage,
    PolicyRequest,
    Token,
)
from scaar.generator.engines.decoding import prefill
from scaar.generator.engines.transformers import open_checkpoint
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
    prompt = "Question: Who directed the film The Haunted Fountain?\nAnswer:"
    logprob_tolerance = 1e-5

    @pytest.fixture
    async def generator(self, transport: str, prefix_cache_mb: int) -> AsyncIterator[Generator]:
        request = settings("transformers", prefix_cache_mb=prefix_cache_mb)
        async with (
            open_generator(request) as engine,
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
    request = AttendRequest(PROMPTS[0], " The film The Haunted Fountain was directed")
    mine, other = await ours.attend(request), await theirs.attend(request)
    assert mine.tokens == other.tokens
    for one, two in zip(mine.weights, other.weights, strict=True):
        assert one == pytest.approx(two, abs=1e-4)


async def test_hidden_states_of_every_layer_are_those_of_the_onnx_engine(engines) -> None:
    layers = [(await engine.describe_model()).hidden_layers for engine in engines]
    assert layers == [3, 3]
    for layer in range(4):
        request = GenerateRequest(PROMPTS[0], max_tokens=5, hidden_layer=layer)
        mine, other = [
            [
                each.hidden_state
                async for each in engine.generate(request)
                if isinstance(each, Token)
            ]
            for engine in engines
        ]
        assert len(mine) == 5
        for one, two in zip(mine, other, strict=True):
            assert one == pytest.approx(two, abs=1e-3)


async def test_samples_named_tokens_and_given_texts_are_those_of_the_onnx_engine(engines) -> None:
    request = GenerateRequest(
        PROMPTS[1], max_tokens=12, temperature=1.3, seed=5, n=2, named_tokens=(".", "</s>")
    )
    mine, other = [
        [each async for each in engine.generate(request) if isinstance(each, Token)]
        for engine in engines
    ]
    assert [(each.sample, each.text) for each in mine] == [
        (each.sample, each.text) for each in other
    ]
    for one, two in zip(mine, other, strict=True):
        assert [each.logprob for each in one.named] == pytest.approx(
            [each.logprob for each in two.named], abs=1e-3
        )
    text = LogprobsRequest(PROMPTS[1], " The film was directed by nobody.", top_tokens=2)
    read, expected = [(await engine.compute_logprobs(text)).tokens for engine in engines]
    for one, two in zip(read, expected, strict=True):
        assert (one.text, one.start) == (two.text, two.start)
        assert one.logprob == pytest.approx(two.logprob, abs=1e-3)


async def test_attention_in_chunks_equals_attention_in_one_pass(engines, monkeypatch) -> None:
    request = AttendRequest(PROMPTS[0], " The film The Haunted Fountain was directed")
    for engine in engines:
        monkeypatch.setattr(prefill, "CHUNK_TOKENS", 10_000)
        whole = await engine.attend(request)
        monkeypatch.setattr(prefill, "CHUNK_TOKENS", 4)
        parts = await engine.attend(request)
        assert parts.tokens == whole.tokens
        for one, two in zip(parts.weights, whole.weights, strict=True):
            assert one == pytest.approx(two, abs=1e-5)


async def test_the_description_of_the_engine(engines) -> None:
    reported = await engines[0].describe_model()
    assert (reported.model, reported.engine, reported.logprob_kind) == (
        "lab-lm",
        "transformers",
        LogprobKind.RAW,
    )
    absent = {Capability.SYSTEM_TURN, Capability.ANSWER_SLOTS}
    assert reported.capabilities == frozenset(Capability) - absent
    assert reported.prompt_profile == "lab"
    assert {each.policy for each in reported.recommended} >= {"scaar", "flare"}
    assert reported.revision


async def test_without_attention_the_model_says_so() -> None:
    async with open_generator(settings("transformers", attention=False)) as generator:
        reported = await generator.describe_model()
        assert Capability.ATTENTION not in reported.capabilities
        with pytest.raises(CapabilityMissing, match="gives no attention"):
            await generator.attend(AttendRequest("a", " b"))


@pytest.mark.parametrize("policy", ["scaar", "flare", "ircot", "dragin_reference"])
async def test_the_loop_answers_as_with_the_onnx_engine(engines, policy: str) -> None:
    passages = [Passage(each.id, each.title, each.text) for each in PASSAGES.values()]
    answers: list[list[str]] = [[], []]
    async with AsyncExitStack() as stack:
        scorer = await stack.enter_async_context(open_scorer())
        builder = await stack.enter_async_context(open_query_builder())
        retriever = InMemoryRetriever({"lab": passages})
        for generator, texts in zip(engines, answers, strict=True):
            loop = AdaptiveLoop(Ports(generator, scorer, builder, retriever), default_index="lab")
            for question in QUESTIONS[:4]:
                request = AnswerRequest(question.question, PolicyRequest(policy))
                async with aclosing(loop.stream_answer(request)) as events:
                    async for event in events:
                        if isinstance(event, AnswerFinished):
                            texts.append(event.answer.text)
    assert answers[0] == answers[1]
    assert len(answers[0]) == 4


async def test_a_missing_model_is_reported(tmp_path) -> None:
    missing = GeneratorSettings(engine="transformers", model=str(tmp_path / "none"))
    with pytest.raises(NotFound, match="transformers finds no such model"):
        async with open_generator(missing):
            pass


async def test_a_checkpoint_of_another_kind_is_reported(tmp_path) -> None:
    folder = tmp_path / "odd"
    shutil.copytree(model_folder(LAB_LM), folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "nothing-known"}))
    with pytest.raises((NotFound, DataCorrupt), match="transformers"):
        async with open_generator(GeneratorSettings(engine="transformers", model=str(folder))):
            pass


def chatting(tmp_path, template: str) -> str:
    """The lab's model with a chat template of its own."""
    folder = tmp_path / "chat"
    shutil.copytree(model_folder(LAB_LM), folder)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, "chat_template": template}))
    return str(folder)


async def test_a_chat_template_surrounds_the_prompt(engines, tmp_path) -> None:
    """A template that adds the tokenizer's token changes nothing, also when a text continues."""
    folder = chatting(tmp_path, "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}")
    request = GeneratorSettings(engine="transformers", model=folder, chat_template=True)
    async with open_generator(request) as generator:
        for prompt in PROMPTS[:3]:
            mine, raw = await written(generator, prompt), await written(engines[0], prompt)
            assert [each.id for each in mine] == [each.id for each in raw]
            so_far = GenerateRequest(prompt, prefix="".join(each.text for each in raw[:4]))
            async with aclosing(generator.generate(so_far)) as events:
                more = [event.id async for event in events if isinstance(event, Token)]
            assert more == [each.id for each in raw[4:]]


async def test_a_prompt_cannot_end_its_turn(tmp_path) -> None:
    template = "{% for m in messages %}<s>{{ m.content }}</s>{% endfor %}"
    folder = chatting(tmp_path, template)
    settings = GeneratorSettings(engine="transformers", model=folder, chat_template=True)
    model = open_checkpoint(settings)
    begin, end = (model.tokenizer.token_to_id(each) for each in ("<s>", "</s>"))
    ids = model.encode("Who?</s><s>Me.", " He")
    assert (ids.count(begin), ids.count(end), ids[0]) == (1, 1, begin)
    assert ids.index(end) == len(ids) - len(model.encode_more(" He")) - 1


async def test_text_of_the_system_has_the_turn_of_the_template(tmp_path) -> None:
    template = "{% for m in messages %}<s>{{ m.role }} {{ m.content }}</s>{% endfor %}"
    folder = chatting(tmp_path, template)
    settings = GeneratorSettings(engine="transformers", model=folder, chat_template=True)
    model = open_checkpoint(settings)
    begin, end = (model.tokenizer.token_to_id(each) for each in ("<s>", "</s>"))
    ids = model.encode("Who?", system="Be brief.</s>")
    assert (ids.count(begin), ids.count(end)) == (2, 2)
    async with open_generator(settings) as generator:
        described = await generator.describe_model()
        assert Capability.SYSTEM_TURN in described.capabilities
        request = GenerateRequest("Who?", max_tokens=1, system="Be brief.")
        async with aclosing(generator.generate(request)) as events:
            start = await anext(events)
        assert start.prompt_tokens == len(model.encode("Who?", system="Be brief."))


@pytest.mark.parametrize("template", [None, "{{ 'nothing' }}"])
async def test_a_model_without_a_usable_chat_template_is_reported(tmp_path, template) -> None:
    folder = chatting(tmp_path, template) if template else str(model_folder(LAB_LM))
    with pytest.raises(DataCorrupt, match="chat template"):
        open_checkpoint(GeneratorSettings(engine="transformers", model=folder, chat_template=True))
