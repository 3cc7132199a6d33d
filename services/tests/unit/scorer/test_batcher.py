"""The batcher over a plain function with controlled timing."""

import asyncio
import random
from concurrent.futures import Executor, Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import BackendUnavailable, DataCorrupt, Overloaded, ScaarError
from scaar.core.observers import ScorerObserver
from scaar.scorer.engines.batched_request import BatchLimits
from scaar.scorer.engines.batcher import Batcher

LIMITS = BatchLimits(pair_tokens=300, batch_pairs=4, queued_pairs=12)


def similarity(pair):
    """Return a number that identifies the pair."""
    return random.Random(pair).random()


class ManualExecutor(Executor):
    """An executor whose work starts and ends under the control of the test."""

    def __init__(self):
        self.tasks = []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_running_or_notify_cancel()
        self.tasks.append((future, fn, args, kwargs))
        return future

    async def run_next(self, at=0):
        """Run one task, and let its waiters continue."""
        future, fn, args, kwargs = self.tasks.pop(at)
        try:
            future.set_result(fn(*args, **kwargs))
        except ScaarError as error:
            future.set_exception(error)
        await settle()


async def settle():
    for _ in range(10):
        await asyncio.sleep(0)


class Model:
    """The plain function, which records its batches."""

    def __init__(self, limits=LIMITS):
        self.executor = ManualExecutor()
        self.batches = []
        self.batcher = Batcher(self.compute, self.executor, limits)

    def compute(self, bucket, pairs):
        self.batches.append((bucket, pairs))
        if error := next((each for each in pairs if each.startswith("error")), None):
            raise DataCorrupt(error)
        if "too few" in pairs:
            return []
        return [similarity(pair) for pair in pairs]

    async def ask(self, *pairs):
        with self.batcher.admitted(len(pairs)) as request:
            return await request.similarities(pairs)

    async def start(self, *pairs):
        task = asyncio.create_task(self.ask(*pairs))
        await settle()
        return task

    async def finish(self):
        while self.executor.tasks:
            await self.executor.run_next()


def answer(*pairs):
    return [similarity(pair) for pair in pairs]


async def test_an_idle_model_starts_immediately():
    model = Model()
    requested = await model.start("a")
    assert len(model.executor.tasks) == 1
    await model.finish()
    assert await requested == answer("a")


async def test_pairs_that_arrive_during_a_batch_form_the_next_one():
    model = Model()
    requested = [await model.start(*pairs) for pairs in ("a", "bc", "d")]
    await model.finish()
    assert [pairs for _, pairs in model.batches] == [("a",), ("b", "c", "d")]
    assert [await each for each in requested] == [answer("a"), answer("b", "c"), answer("d")]


def test_a_batch_of_longer_pairs_holds_fewer():
    limits = BatchLimits(pair_tokens=514, batch_pairs=32, queued_pairs=1000)
    assert [limits.pairs_of(bucket) for bucket in (64, 128, 256, 512, 514)] == [32, 32, 16, 8, 7]


async def test_only_pairs_of_one_bucket_share_a_batch():
    model = Model()
    lengths = (1, 64, 65, 128, 129, 256, 257, 300)
    first = await model.start("first")
    requested = await model.start(*("x" * length for length in lengths))
    await model.finish()
    found = [(bucket, [len(pair) for pair in pairs]) for bucket, pairs in model.batches[1:]]
    assert found == [(64, [1, 64]), (128, [65, 128]), (256, [129, 256]), (300, [257]), (300, [300])]
    assert await requested == answer(*("x" * length for length in lengths))
    assert await first == answer("first")


async def test_equal_pairs_of_different_requests_are_computed_once():
    model = Model()
    requested = [await model.start(*pairs) for pairs in ("a", "bb", "bc")]
    await model.finish()
    assert [pairs for _, pairs in model.batches] == [("a",), ("b", "c")]
    assert model.batcher.computed_pairs == 3
    assert [await each for each in requested[1:]] == [answer("b", "b"), answer("b", "c")]


@pytest.mark.parametrize(("batch_pairs", "batches"), [(40, 2), (32, 3), (8, 3)])
async def test_a_long_request_does_not_delay_a_short_one(batch_pairs, batches):
    model = Model(BatchLimits(pair_tokens=300, batch_pairs=batch_pairs, queued_pairs=1000))
    long = await model.start(*(f"long {number}" for number in range(200)))
    short = await model.start("short")
    for _ in range(batches):
        assert not short.done()
        await model.executor.run_next()
    assert short.result() == answer("short")
    assert not long.done()
    await model.finish()
    assert await long == answer(*(f"long {number}" for number in range(200)))


async def test_pairs_of_a_rare_length_have_their_turn():
    model = Model()
    requested = [await model.start(f"{number}a", f"{number}b") for number in range(3)]
    rare = await model.start("x" * 100)
    for _ in range(3):
        await model.executor.run_next()
        requested.append(await model.start("more", "and more"))
    assert await rare == answer("x" * 100)
    await model.finish()
    assert [len(each) for each in await asyncio.gather(*requested)] == [2] * 6


async def test_pairs_of_cancelled_callers_are_not_computed():
    model = Model()
    first = await model.start("a")
    gone, stays = await model.start("b", "c"), await model.start("c", "d")
    gone.cancel()
    await settle()
    assert model.batcher.queued_pairs == 2
    await model.finish()
    assert [pairs for _, pairs in model.batches] == [("a",), ("c", "d")]
    assert await stays == answer("c", "d")
    assert await first == answer("a")


async def test_a_caller_cancelled_during_its_batch_does_not_affect_others():
    model = Model()
    gone, stays = await model.start("a"), await model.start("b")
    gone.cancel()
    await model.finish()
    assert gone.cancelled()
    assert await stays == answer("b")


async def test_a_full_queue_is_refused_with_a_retry_delay():
    model = Model()
    requested = [await model.start("a"), await model.start(*"bcdefghijk")]
    with pytest.raises(
        Overloaded, match="10 pairs are waiting, and 3 more .* limit of 12"
    ) as refused:
        await model.ask("x", "y", "z")
    assert refused.value.retry_after_s == 1.0
    requested.append(await model.start("x", "y"))
    await model.executor.run_next()
    with pytest.raises(Overloaded) as refused:
        await model.ask(*"lmnopq")
    assert 0.1 <= refused.value.retry_after_s <= 30
    await model.finish()
    assert all(await asyncio.gather(*requested))
    assert model.batcher.queued_pairs == 0


async def test_pairs_are_admitted_before_they_are_tokenized():
    model = Model()
    with model.batcher.admitted(10), pytest.raises(Overloaded):
        await model.ask(*"abc")
    assert model.batcher.queued_pairs == 0
    requested = await model.start(*"abc")
    await model.finish()
    assert await requested == answer(*"abc")


async def test_other_pairs_than_were_admitted_are_refused():
    model = Model()
    with model.batcher.admitted(2) as request, pytest.raises(ValueError, match="2 pairs"):
        await request.similarities("abc")
    assert model.batcher.queued_pairs == 0


async def test_no_pairs_need_no_batch():
    assert await Model().ask() == []


async def test_an_error_of_the_model_fails_the_requests_of_that_batch_and_no_others():
    model = Model()
    first = await model.start("a")
    with_it = [await model.start("b"), await model.start("error 1", "c", "d", "e", "f")]
    after = await model.start("g")
    await model.finish()
    for each in with_it:
        with pytest.raises(DataCorrupt, match="error 1"):
            await each
    assert [await first, await after] == [answer("a"), answer("g")]
    # What was left of the request that failed is not computed.
    assert [pairs for _, pairs in model.batches[2:]] == [("g",)]
    assert model.batcher.queued_pairs == 0


async def test_a_model_that_returns_too_few_numbers_is_an_error():
    model = Model()
    requested = await model.start("too few")
    await model.finish()
    with pytest.raises(ScaarError, match="returned 0 numbers for 1"):
        await requested
    assert await asyncio.gather(model.start("a"), model.finish())


async def test_closing_fails_waiting_requests():
    model = Model()
    computing, waiting = await model.start("a"), await model.start("b")
    model.batcher.close()
    await model.finish()
    assert await computing == answer("a")
    for each in (waiting, await model.start("c")):
        with pytest.raises(BackendUnavailable):
            await each
    assert [pairs for _, pairs in model.batches] == [("a",)]


REQUESTS = st.lists(
    st.sampled_from(["a", "b", "c", "error", "x" * 64, "y" * 65, "z" * 200]), max_size=9
)
STEPS = st.one_of(
    st.tuples(st.just("ask"), REQUESTS),
    st.tuples(st.just("leave"), st.integers(0, 20)),
    st.tuples(st.just("compute"), st.integers(0, 3)),
)


@given(
    steps=st.lists(STEPS, max_size=40),
    batch_pairs=st.integers(1, 6),
    queued_pairs=st.integers(9, 24),
    parallel=st.integers(1, 3),
)
def test_any_interleaving_gives_each_request_its_own_result_within_the_limits(
    steps, batch_pairs, queued_pairs, parallel
):
    limits = BatchLimits(
        pair_tokens=200, batch_pairs=batch_pairs, queued_pairs=queued_pairs, parallel=parallel
    )

    async def interleave():
        model = Model(limits)
        requested = []
        for step, value in steps:
            if step == "ask":
                refused = model.batcher.queued_pairs + len(value) > queued_pairs
                requested.append((value, refused, await model.start(*value)))
            elif step == "leave" and value < len(requested):
                requested[value][2].cancel()
                await settle()
            elif step == "compute" and value < len(model.executor.tasks):
                await model.executor.run_next(value)
            assert 0 <= model.batcher.queued_pairs <= queued_pairs
            assert len(model.executor.tasks) <= parallel
        await model.finish()
        lost = {pair for _, pairs in model.batches if "error" in pairs for pair in pairs}
        for pairs, refused, task in requested:
            if task.cancelled():
                continue
            if error := task.exception():
                assert isinstance(error, Overloaded if refused else DataCorrupt)
                assert refused or lost.intersection(pairs)
            else:
                assert not refused
                assert task.result() == answer(*pairs)
                assert "error" not in pairs
        assert model.batcher.queued_pairs == 0
        for bucket, pairs in model.batches:
            assert 1 <= len(pairs) <= limits.pairs_of(bucket)
            assert len(set(pairs)) == len(pairs)
            assert {limits.bucket_of(pair) for pair in pairs} == {bucket}

    asyncio.run(interleave())


async def test_batches_and_waits_are_reported_to_the_observer():
    class Reported(ScorerObserver):
        def __init__(self):
            self.batches, self.waits = [], []

        def on_batch_started(self, pairs):
            self.batches.append(pairs)

        def on_queue_wait(self, seconds):
            self.waits.append(seconds)

    reported, model = Reported(), Model()
    model.batcher = Batcher(model.compute, model.executor, LIMITS, observer=reported)
    first = await model.start("a", "b")
    second = await model.start("c", "d", "e", "f", "g")
    await model.finish()
    assert await first == answer("a", "b")
    assert await second == answer("c", "d", "e", "f", "g")
    assert reported.batches == [2, 4, 1]
    # Each request once, though the second gave to two batches.
    assert len(reported.waits) == 2
    assert reported.waits[0] <= reported.waits[1]
