"""The engine over a random model, compared with the training code, and over scripted models."""

import asyncio
import threading
from contextlib import aclosing

import numpy as np
import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest, Overloaded
from scaar.core.types import (
    AttendRequest,
    Capability,
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationStart,
    LogprobKind,
    Token,
)
from scaar.generator.engines.decoding import generator as decoding_generator
from scaar.generator.engines.decoding.continuation import Continuation
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.training.language_model import logits
from scaar.lab.vocabulary import BOS_ID, EOS_ID, build_tokenizer

pytestmark = pytest.mark.slow

PROMPT = "Question:"
"""What the scripted models continue."""

TOKENIZER = build_tokenizer()


def ids_of(text):
    return TOKENIZER.encode(text, add_special_tokens=False).ids


async def generate(generator, prompt=PROMPT, **fields):
    """The tokens and the end; checks the order of the events."""
    events = [event async for event in generator.generate(GenerateRequest(prompt, **fields))]
    start, *tokens, end = events
    assert isinstance(start, GenerationStart)
    assert isinstance(end, GenerationEnd)
    assert all(isinstance(token, Token) for token in tokens)
    assert start.prompt_tokens == end.prompt_tokens
    return tokens, end


def text_of(tokens):
    return "".join(token.text for token in tokens)


@pytest.fixture
async def random_model(language_model_folder):
    async with open_onnx_generator(GeneratorSettings(model=language_model_folder)) as generator:
        yield generator


def written(tokens):
    """What of tokens must be alike however much of the text was read before."""
    return [
        (token.id, token.text, token.start, token.end, pytest.approx(token.logprob, abs=1e-5))
        for token in tokens
    ]


# --- against the training code ----------------------------------------------------------------


@pytest.mark.parametrize("prompt", ["Question: Who is it?\nAnswer:", "é🙂", "The film"])
async def test_tokens_and_probabilities_are_those_of_the_training_code(
    random_model, decoder, prompt
):
    tokens, end = await generate(random_model, prompt, max_tokens=24)
    shape, params = decoder
    ids = TOKENIZER.encode(prompt).ids
    read = len(ids)
    ids += [token.id for token in tokens]
    # The model looks back only, so what it said at each place is in one reading of the whole.
    rows = np.asarray(logits(shape, params, np.array([ids]), np.ones((1, len(ids)))))[0]
    for row, token in zip(rows[read - 1 :], tokens, strict=False):
        logprobs = row - np.log(np.exp(row).sum())
        assert token.id == row.argmax()
        assert token.logprob == pytest.approx(logprobs[token.id], abs=1e-4)
        assert token.entropy == pytest.approx(-(np.exp(logprobs) * logprobs).sum(), abs=1e-4)
    assert end.finish_reason is FinishReason.LENGTH
    assert end.generated_tokens == len(tokens) == 24


async def test_going_on_from_ids_writes_what_one_generation_writes(random_model):
    whole, _ = await generate(random_model, max_tokens=20)
    for cut in (1, 7, 19):
        rest, end = await generate(
            random_model,
            prefix=text_of(whole[:cut]),
            prefix_token_ids=tuple(token.id for token in whole[:cut]),
            max_tokens=20 - cut,
        )
        assert end.prompt_tokens == len(TOKENIZER.encode(PROMPT).ids) + cut
        assert [token.id for token in rest] == [token.id for token in whole[cut:]]
        assert rest[0].start == 0


async def test_a_prefix_whose_ids_do_not_cover_it_is_read_as_text(random_model):
    by_text, _ = await generate(random_model, prefix=" The film", max_tokens=5)
    wrong, _ = await generate(
        random_model, prefix=" The film", prefix_token_ids=tuple(ids_of(" was")), max_tokens=5
    )
    assert written(wrong) == written(by_text)


async def test_alternatives_are_the_likeliest_tokens(random_model):
    tokens, _ = await generate(random_model, max_tokens=4, top_tokens=3)
    for token in tokens:
        assert len(token.top) == 3
        assert token.top[0].id == token.id
        assert token.top[0].logprob == token.logprob
        assert token.top[0].logprob >= token.top[1].logprob >= token.top[2].logprob


@pytest.fixture
def threads(monkeypatch):
    """The threads in which steps run, in the order of the steps."""
    found, step = [], Continuation.step

    def watched(writing):
        found.append(threading.current_thread())
        return step(writing)

    monkeypatch.setattr(Continuation, "step", watched)
    return found


@pytest.mark.parametrize("max_batch", [1, 8])
async def test_short_steps_of_a_generation_alone_run_on_the_event_loop(
    language_model_folder, threads, monkeypatch, max_batch
):
    here = threading.current_thread()
    monkeypatch.setattr(decoding_generator, "_SHORT_STEP_S", 60.0)
    settings = GeneratorSettings(model=language_model_folder, max_batch=max_batch)
    async with open_onnx_generator(settings) as generator:
        await generate(generator, max_tokens=8)
        # The first step reads the prompt; the second one shows how long a step takes.
        assert [thread is here for thread in threads] == [False, False, *[True] * 6]
        threads.clear()
        monkeypatch.setattr(decoding_generator, "_SHORT_STEP_S", 0.0)
        await generate(generator, max_tokens=8)
        assert here not in threads


async def test_steps_beside_another_generation_run_in_threads(random_model, threads, monkeypatch):
    monkeypatch.setattr(decoding_generator, "_SHORT_STEP_S", 60.0)
    async with aclosing(random_model.generate(GenerateRequest(PROMPT, max_tokens=8))) as other:
        await anext(other)
        threads.clear()
        await generate(random_model, max_tokens=8)
    assert len(threads) == 8
    assert threading.current_thread() not in threads


async def test_a_generation_of_short_steps_leaves_the_loop_to_others(random_model, monkeypatch):
    monkeypatch.setattr(decoding_generator, "_SHORT_STEP_S", 60.0)
    turns, writing = 0, asyncio.create_task(generate(random_model, max_tokens=24))
    while not writing.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns >= 24


async def test_generations_side_by_side_write_what_they_write_alone(random_model):
    prompts = [f"Question: {word}" for word in ("Who", "When", "Where", "Which", "x", "é")]
    alone = [await generate(random_model, prompt, max_tokens=15) for prompt in prompts]
    together = await asyncio.gather(
        *(generate(random_model, prompt, max_tokens=15) for prompt in prompts)
    )
    for (tokens, end), (alone_tokens, alone_end) in zip(together, alone, strict=True):
        assert written(tokens) == written(alone_tokens)
        assert end == alone_end


async def test_attention_is_the_last_layers_over_prompt_and_text(random_model):
    attention = await random_model.attend(AttendRequest("Question: 🙂", " The film was"))
    assert text_of(attention.tokens) == "Question: 🙂 The film was"
    assert [token.start for token in attention.tokens[-3:]] == [11, 15, 20]
    assert attention.prompt_tokens == len(attention.tokens) - 3
    lengths = [len(row) for row in attention.weights]
    assert lengths == [attention.prompt_tokens + number for number in (1, 2, 3)]
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in attention.weights)
    given = AttendRequest("Question: 🙂", " The film was", tuple(ids_of(" The film was")))
    assert await random_model.attend(given) == attention


async def test_the_model_is_described(random_model, language_model_folder):
    described = await random_model.describe_model()
    assert (described.model, described.engine) == ("random-lm", "onnx")
    assert len(described.revision) == 12
    assert described.logprob_kind is LogprobKind.RAW
    absent = {Capability.SYSTEM_TURN, Capability.ANSWER_SLOTS}
    assert described.capabilities == frozenset(Capability) - absent
    assert described.max_total_tokens == 128
    assert described.prompt_profile == "lab"
    assert described.max_concurrent_generations == GeneratorSettings().max_concurrent


# --- text, characters and spans ---------------------------------------------------------------


@pytest.mark.parametrize("text", [" The film was", "🙂é日本 ok", "x\n\n  y", " 🏳️‍🌈!"])
async def test_spans_are_in_code_points_and_pieces_make_the_text(write, text):
    async with write(ids_of(text)) as generator:
        tokens, end = await generate(generator)
    assert text_of(tokens) == text
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert [token.id for token in tokens] == ids_of(text)
    assert end.finish_reason is FinishReason.END_OF_SEQUENCE
    assert end.generated_tokens == len(tokens) + 1


async def test_tokens_within_a_character_have_no_text_and_no_width(write):
    async with write(ids_of("a🙂b")) as generator:
        tokens, _ = await generate(generator)
    assert [token.text for token in tokens] == ["a", "", "", "", "🙂", "b"]
    assert [(token.start, token.end) for token in tokens[1:5]] == [(1, 1)] * 3 + [(1, 2)]


@pytest.mark.parametrize("max_tokens", [2, 256])
async def test_a_character_that_stays_incomplete_is_what_the_tokenizer_decodes(write, max_tokens):
    ids = ids_of("🙂")[:2]
    async with write(ids) as generator:
        tokens, _ = await generate(generator, max_tokens=max_tokens)
    assert text_of(tokens) == TOKENIZER.decode(ids) == "�"
    assert [token.text for token in tokens] == ["", "�"]


async def test_special_tokens_are_not_text(write):
    async with write([*ids_of(" The"), BOS_ID, *ids_of(" film")]) as generator:
        tokens, _ = await generate(generator)
    assert [(token.text, token.start, token.end) for token in tokens] == [
        (" The", 0, 4),
        ("", 4, 4),
        (" film", 4, 9),
    ]


async def test_a_special_tokens_name_in_the_prompt_is_text(random_model):
    _, end = await generate(random_model, "a</s>", max_tokens=1)
    assert end.prompt_tokens == 1 + len("a</s>")


# --- ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("film", " The "),
        (" was dir", " The film"),
        ("m w", " The fil"),
        ("🙂!", " The film was directed by "),
        (" The", ""),
    ],
)
async def test_a_stop_string_cuts_the_text_across_tokens(write, stop, expected):
    async with write(ids_of(" The film was directed by 🙂!")) as g:
        tokens, end = await generate(g, stop=(stop, "never"))
    assert text_of(tokens) == expected
    assert end.finish_reason is FinishReason.STOP


async def test_an_incomplete_stop_string_is_text(write):
    async with write(ids_of(" The film was")) as generator:
        tokens, end = await generate(generator, stop=(" film is", "was born"))
    assert text_of(tokens) == " The film was"
    assert end.finish_reason is FinishReason.END_OF_SEQUENCE


async def test_the_context_is_the_end_of_a_generation(write):
    async with write(ids_of("x" * 62)) as generator:
        tokens, end = await generate(generator)
    assert end.finish_reason is FinishReason.LENGTH
    assert end.prompt_tokens + len(tokens) == 64


# --- closing ----------------------------------------------------------------------------------


async def test_closing_stops_the_model_within_one_token(random_model, watch):
    counting = watch(random_model)
    async with aclosing(random_model.generate(GenerateRequest(PROMPT))) as events:
        seen = 0
        async for event in events:
            seen += isinstance(event, Token)
            if seen == 3:
                break
    assert counting.steps == 3
    await asyncio.sleep(0.05)
    assert counting.steps == 3


async def test_cancelling_stops_the_model_within_one_token(random_model, watch):
    counting = watch(random_model)
    reached = asyncio.Event()

    async def read():
        async with aclosing(random_model.generate(GenerateRequest(PROMPT))) as events:
            async for _ in events:
                if counting.steps >= 4:
                    reached.set()

    task = asyncio.create_task(read())
    await reached.wait()
    task.cancel()
    steps = counting.steps
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.05)
    assert counting.steps <= steps + 1


async def test_a_generation_above_the_limit_is_rejected_until_another_ends(write):
    async with write(ids_of(" The film"), max_concurrent=1) as generator:
        async with aclosing(generator.generate(GenerateRequest(PROMPT))) as first:
            await anext(first)
            with pytest.raises(Overloaded):
                await generate(generator)
        tokens, _ = await generate(generator)
    assert text_of(tokens) == " The film"


async def test_a_step_that_fails_is_a_condition(random_model):
    decoder = random_model._model.decoder
    with pytest.raises(BackendUnavailable, match="ONNX Runtime failed at a step of 2 tokens"):
        decoder.step([1, 10**6], decoder.begin())


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"prompt": ""}, "prompt"),
        ({"prompt": "\ud800"}, "prompt"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1025}, "max_tokens"),
        ({"stop": ("",)}, "stop"),
        ({"stop": ("x",) * 17}, "stop"),
        ({"stop": ("\ud800",)}, "stop"),
        ({"top_tokens": -1}, "top_tokens"),
        ({"top_tokens": 21}, "top_tokens"),
        ({"prefix": "a", "prefix_token_ids": (10**6,)}, "prefix_token_ids"),
        ({"prefix": "a", "prefix_token_ids": (-1,)}, "prefix_token_ids"),
        ({"prompt": "x" * 200}, "prompt"),
    ],
)
async def test_a_wrong_field_is_named_before_any_step(random_model, watch, fields, field):
    counting = watch(random_model)
    with pytest.raises(InvalidRequest) as refused:
        await generate(random_model, **fields)
    assert [violation.field for violation in refused.value.violations] == [field]
    assert counting.steps == 0


async def test_a_prompt_that_is_too_long_names_the_limit(random_model):
    with pytest.raises(InvalidRequest, match="at most 127 tokens"):
        await generate(random_model, "x" * 127)
    await generate(random_model, "x" * 126)


async def test_attention_is_refused_by_a_model_exported_without_it(write):
    async with write([EOS_ID]) as generator:
        assert Capability.ATTENTION not in (await generator.describe_model()).capabilities
        with pytest.raises(CapabilityMissing, match="scripted"):
            await generator.attend(AttendRequest(PROMPT, "x"))


@pytest.mark.parametrize(
    ("prompt", "text", "ids", "field"),
    [("a", "", (), "text"), ("a", "b", (10**6,), "text_token_ids"), ("x" * 200, "b", (), "prompt")],
)
async def test_a_wrong_attend_request_is_refused(random_model, prompt, text, ids, field):
    with pytest.raises(InvalidRequest) as refused:
        await random_model.attend(AttendRequest(prompt, text, ids))
    assert refused.value.violations[0].field == field
