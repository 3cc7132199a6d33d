"""Several generations share one worker: they alternate step by step, with prompts of any length."""

import asyncio
import itertools
from collections import Counter
from contextlib import aclosing

import pytest

from scaar.core.types import AttendRequest, GenerateRequest, GenerationStart, Token
from scaar.generator.engines.decoding import prefill
from scaar.generator.engines.onnx import open_onnx_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.vocabulary import build_tokenizer

LONG = "Which film? " * 10
"""32 tokens."""
CHUNK = 8
FILM = build_tokenizer().encode(" film", add_special_tokens=False).ids[0]


@pytest.fixture
async def one_worker(language_model_folder):
    """The random model on one worker, with nothing read before."""
    settings = GeneratorSettings(model=language_model_folder, workers=1, prefix_cache_mb=0)
    async with open_onnx_generator(settings) as generator:
        yield generator


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(prefill, "CHUNK_TOKENS", CHUNK)


async def events_of(generator, prompt, **fields):
    return [event async for event in generator.generate(GenerateRequest(prompt, **fields))]


async def test_streams_alternate_step_by_step(one_worker, watch):
    watched = watch(one_worker)
    await asyncio.gather(
        *(events_of(one_worker, f"Question: {name}", max_tokens=20) for name in "ABCD")
    )
    # The prompts have one length, so the number of read tokens identifies a round.
    assert watched.pasts == sorted(watched.pasts)
    assert set(Counter(watched.pasts).values()) == {4}


async def log_tokens(generator, name, log, **fields):
    """Writes the stream's name into the log with each of its tokens."""
    async with aclosing(generator.generate(GenerateRequest("Question:", **fields))) as events:
        async for event in events:
            if isinstance(event, Token):
                log.append(name)


async def test_no_stream_gets_ahead_of_another_by_more_than_one_token(write):
    log = []
    async with write([FILM] * 60, workers=1) as generator:
        await asyncio.gather(*(log_tokens(generator, name, log, max_tokens=30) for name in "ABCD"))
    assert Counter(log) == dict.fromkeys("ABCD", 30)
    counts = Counter(dict.fromkeys("ABCD", 0))
    for name in log:
        counts[name] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


async def test_a_later_stream_gets_the_next_step(write, watch):
    log = []
    async with write([FILM] * 60, workers=1) as generator, asyncio.TaskGroup() as streams:
        watched = watch(generator)
        streams.create_task(log_tokens(generator, "first", log, max_tokens=60))
        await watched.reach(10)
        before = len(log)
        streams.create_task(log_tokens(generator, "second", log, max_tokens=5))
    # Between two tokens of one there is one of the other; at first it turns its prompt to tokens.
    first, *rest = [at for at, name in enumerate(log) if name == "second"]
    assert first <= before + 4
    assert [two - one for one, two in itertools.pairwise([first, *rest])] == [2, 2, 2, 2]


async def test_a_stream_submits_one_step_at_a_time(one_worker):
    requested, most = 0, Counter()
    submit = one_worker._executor.submit

    def counting(work, *args):
        nonlocal requested
        requested += 1
        most[requested] += 1
        future = submit(work, *args)
        future.add_done_callback(lambda _: done())
        return future

    def done():
        nonlocal requested
        requested -= 1

    one_worker._executor.submit = counting
    async with aclosing(one_worker.generate(GenerateRequest("Question:", max_tokens=20))) as one:
        async for _ in one:
            await asyncio.sleep(0)
    assert set(most) == {1}


async def test_a_long_prompt_alternates_with_a_running_stream(one_worker, small_chunks, watch):
    watched = watch(one_worker)
    async with aclosing(one_worker.generate(GenerateRequest("Q:", max_tokens=100))) as short:
        assert isinstance(await anext(short), GenerationStart)
        watched.reads.clear()
        long = asyncio.create_task(events_of(one_worker, LONG, max_tokens=1))
        async for _ in short:
            if long.done():
                break
        await long
    chunks = [at for at, ids in enumerate(watched.reads) if len(ids) > 2]
    assert len(chunks) == 4
    assert all(two - one == 2 for one, two in itertools.pairwise(chunks))


@pytest.mark.parametrize("chunk", [2, 7, 31])
async def test_a_prompt_read_in_chunks_gives_what_it_gives_in_one(
    one_worker, watch, monkeypatch, chunk
):
    whole = await events_of(one_worker, LONG, max_tokens=8, top_tokens=2)
    watched = watch(one_worker)
    monkeypatch.setattr(prefill, "CHUNK_TOKENS", chunk)
    parts = await events_of(one_worker, LONG, max_tokens=8, top_tokens=2)
    assert max(map(len, watched.reads)) == chunk
    assert (parts[0], parts[-1]) == (whole[0], whole[-1])
    for one, other in zip(parts[1:-1], whole[1:-1], strict=True):
        assert one.id == other.id
        assert one.logprob == pytest.approx(other.logprob, abs=1e-5)
        assert one.entropy == pytest.approx(other.entropy, abs=1e-5)


@pytest.mark.parametrize("chunk", [1, 2, 7, 31])
async def test_an_attention_read_in_chunks_is_what_it_is_in_one(
    one_worker, watch, monkeypatch, chunk
):
    whole = await one_worker.attend(AttendRequest(LONG, LONG))
    watched = watch(one_worker)
    monkeypatch.setattr(prefill, "CHUNK_TOKENS", chunk)
    parts = await one_worker.attend(AttendRequest(LONG, LONG))
    assert max(map(len, watched.reads)) == chunk
    assert watched.tokens == len(whole.tokens)
    assert (parts.tokens, parts.prompt_tokens) == (whole.tokens, whole.prompt_tokens)
    for one, other in zip(parts.weights, whole.weights, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


async def test_an_attention_request_alternates_with_a_running_stream(
    one_worker, small_chunks, watch
):
    watched = watch(one_worker)
    async with aclosing(one_worker.generate(GenerateRequest("Q:", max_tokens=100))) as short:
        assert isinstance(await anext(short), GenerationStart)
        watched.reads.clear()
        attending = asyncio.create_task(one_worker.attend(AttendRequest(LONG, LONG)))
        async for _ in short:
            if attending.done():
                break
        await attending
    chunks = [at for at, ids in enumerate(watched.reads) if len(ids) > 2]
    assert len(chunks) == 8
    assert all(two - one == 2 for one, two in itertools.pairwise(chunks))


async def test_attention_requests_reuse_the_cache_of_the_prompt(language_model_folder, watch):
    async with open_onnx_generator(GeneratorSettings(model=language_model_folder)) as generator:
        whole = await generator.attend(AttendRequest(LONG, " The film"))
        await events_of(generator, LONG, max_tokens=1)
        watched = watch(generator)
        again = await generator.attend(AttendRequest(LONG, " The film"))
    assert watched.tokens == len(whole.weights)
    for one, other in zip(again.weights, whole.weights, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


async def test_a_prompt_under_way_that_is_cancelled_is_read_no_further(
    one_worker, small_chunks, watch
):
    watched = watch(one_worker)
    task = asyncio.create_task(events_of(one_worker, LONG))
    await watched.reach(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    steps = watched.steps
    assert steps < 4
    # What another asks for now comes after at most the step that was running.
    await events_of(one_worker, "Q:", max_tokens=1)
    assert watched.steps <= steps + 1 + 1


async def test_a_closed_stream_leaves_its_steps_to_the_others(one_worker, watch):
    watched = watch(one_worker)
    async with aclosing(one_worker.generate(GenerateRequest("Question: closed"))) as closed:
        assert isinstance(await anext(closed), GenerationStart)
    watched.reads.clear()
    await asyncio.gather(
        *(events_of(one_worker, f"Question: {name}", max_tokens=10) for name in "AB")
    )
    assert watched.steps == 2 * 10


async def test_a_cancelled_waiting_stream_runs_no_step(one_worker, watch):
    watched = watch(one_worker)
    waiting = [
        asyncio.create_task(events_of(one_worker, f"Question: {name}", max_tokens=50))
        for name in "ABCD"
    ]
    await watched.reach(8)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert one_worker._generation_slots.in_use == one_worker._attention_slots.in_use == 0
    steps = watched.steps
    await events_of(one_worker, "Q:", max_tokens=1)
    assert watched.steps <= steps + 1 + 1
