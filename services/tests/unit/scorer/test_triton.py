"""The scorer on a server with Triton's protocol: requests, and conditions of failures."""

import asyncio

import grpc
import numpy as np
import pytest

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DataCorrupt,
    DeadlineExceeded,
    Overloaded,
    ScaarError,
)
from scaar.core.types import ScoreRequest
from scaar.encoders.cross_encoder import open_cross_encoder
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings

from .triton_stand_in import standing_in

FILM = ScoreRequest("Who made it?", tuple(" The film was directed by Ann 🙂.".split()))
LONG = ScoreRequest("Who " + "x" * 20 + "?", FILM.words)
SHORT = ScoreRequest("When?", ("Ann", "died", "died"))
Code = grpc.StatusCode


@pytest.fixture
def model(cross_encoder_folder):
    return open_cross_encoder(cross_encoder_folder, threads=1)


@pytest.fixture
async def triton(model):
    async with standing_in(model.session) as (stand_in, target):
        stand_in.target = target
        yield stand_in


@pytest.fixture
def settings(cross_encoder_folder, triton):
    return ScorerSettings(
        engine="triton", model=cross_encoder_folder, triton_target=triton.target, cache_entries=0
    )


@pytest.fixture
async def scorer(settings):
    async with open_scorer(settings) as scorer:
        yield scorer


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 (the stand-in tells by its counts)
            await asyncio.sleep(0.001)


async def test_contributions_are_those_of_the_embedded_scorer(scorer, cross_encoder_folder):
    found = await scorer.score_contributions([FILM, LONG, SHORT])
    async with open_scorer(ScorerSettings(model=cross_encoder_folder)) as embedded:
        expected = await embedded.score_contributions([FILM, LONG, SHORT])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


async def test_requests_are_padded_to_a_bucket_and_within_the_models_batch_size(scorer, triton):
    triton.max_batch_size = 4
    await until(lambda: triton.looks > 2)
    await scorer.score_contributions([FILM, LONG, SHORT])
    assert set(triton.widths) <= {64, 96}
    assert max(triton.pairs) <= 4
    # Without its second or its third word the short sentence is the same.
    assert sum(triton.pairs) == len(FILM.words) + len(LONG.words) + 2


async def test_concurrent_requests_are_bounded_and_a_long_call_does_not_delay_a_short_one(
    settings, triton
):
    triton.gate.clear()
    narrow = settings.model_copy(update={"max_batch_pairs": 1, "triton_requests": 5})
    async with open_scorer(narrow) as scorer:
        long = asyncio.create_task(scorer.score_contributions([FILM, LONG]))
        await until(lambda: triton.under_way == 4)
        short = asyncio.create_task(scorer.score_contributions([SHORT]))
        await until(lambda: triton.under_way == 5)
        triton.gate.set()
        assert len((await short)[0]) == 3
        assert [len(each) for each in await long] == [len(FILM.words)] * 2
    assert triton.max_in_flight == 5


async def test_a_cancelled_call_is_cancelled_on_the_server(scorer, triton):
    triton.gate.clear()
    call = asyncio.create_task(scorer.score_contributions([FILM]))
    await until(lambda: triton.under_way)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: triton.cancelled)
    assert scorer.queued_pairs == 0


async def test_pairs_that_would_exceed_the_limit_are_refused(settings, triton):
    triton.gate.clear()
    sentence = ScoreRequest("q", ("a",) * 40)
    async with open_scorer(settings.model_copy(update={"max_queued_pairs": 4096})) as scorer:
        first = asyncio.create_task(scorer.score_contributions([sentence] * 100))
        await until(lambda: triton.under_way)
        with pytest.raises(Overloaded, match="4000 pairs are in progress"):
            await scorer.score_contributions([sentence] * 100)
        triton.gate.set()
        assert len(await first) == 100


@pytest.mark.parametrize(
    ("code", "message", "error"),
    [
        (Code.UNAVAILABLE, "[request id: 1] Exceeds maximum queue size", Overloaded),
        (Code.UNAVAILABLE, "Request timeout expired", Overloaded),
        (Code.UNAVAILABLE, "Server is stopping", BackendUnavailable),
        (Code.RESOURCE_EXHAUSTED, "message is too large", Overloaded),
        (Code.DEADLINE_EXCEEDED, "too late", DeadlineExceeded),
        (Code.NOT_FOUND, "Request for unknown model", CapabilityMissing),
        (Code.INVALID_ARGUMENT, "batch size must be <= 1", CapabilityMissing),
        (Code.INTERNAL, "the stub process is not healthy", ScaarError),
        (Code.UNKNOWN, "", ScaarError),
    ],
)
async def test_a_failure_becomes_its_condition(scorer, triton, code, message, error):
    triton.failure = (code, message)
    with pytest.raises(ScaarError) as failed:
        await scorer.score_contributions([FILM])
    assert type(failed.value) is error
    assert triton.target in failed.value.message


@pytest.mark.parametrize(
    "change",
    [lambda x: x * np.nan, lambda x: x[:-1], lambda x: np.concatenate([x, x], axis=1)],
    ids=["no number", "too few", "two labels"],
)
async def test_logits_other_than_one_number_per_pair_are_corrupt(scorer, triton, change):
    triton.change = change
    with pytest.raises(DataCorrupt, match="one finite number per pair"):
        await scorer.score_contributions([FILM])


async def test_a_model_is_checked_again_after_a_failure(scorer, triton):
    assert (await scorer.describe_model()).revision == "1"
    triton.revision, triton.failure = "2", (Code.UNAVAILABLE, "Server is stopping")
    with pytest.raises(BackendUnavailable):
        await scorer.score_contributions([FILM])
    triton.failure = None
    looks = triton.looks
    await until(lambda: triton.looks > looks)
    async with asyncio.timeout(30):
        while True:
            try:
                assert (await scorer.describe_model()).revision == "2"
                break
            except BackendUnavailable:
                await asyncio.sleep(0.001)
    assert len((await scorer.score_contributions([SHORT]))[0]) == 3


async def test_the_scorer_waits_for_a_model_that_is_not_ready(settings, triton):
    triton.ready = False
    async with open_scorer(settings) as scorer:
        with pytest.raises(BackendUnavailable, match="is not ready"):
            await scorer.score_contributions([FILM])
        triton.ready = True
        looks = triton.looks
        await until(lambda: triton.looks > looks + 1)
        assert (await scorer.describe_model()).engine == "triton"


async def test_an_unknown_model_is_refused_at_the_start(settings):
    other = settings.model_copy(update={"triton_model": "other"})
    with pytest.raises(CapabilityMissing, match="no model 'other'"):
        async with open_scorer(other):
            raise AssertionError("a model that is not there was taken")
