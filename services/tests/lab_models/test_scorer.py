"""The shipped cross-encoder keeps to the port, embedded and over gRPC, and counts its work."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from scaar.core.loop.contribution import leave_one_out
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScoreRequest
from scaar.encoders.cross_encoder import TokenPair, open_cross_encoder
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.scorer.cache import CachedScorer
from scaar.scorer.engines.batched_request import BatchLimits
from scaar.scorer.engines.batcher import Batcher
from scaar.scorer.engines.onnx import OnnxScorer
from scaar.scorer.engines.pairs import encode_pairs
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.conformance.scorer import ScorerConformance
from scaar.testing.sockets import TRANSPORTS, scorer_by

FOLDER = model_folder(LAB_CROSS_ENCODER)
QUESTION = "Who directed the film The Haunted Fountain?"
SENTENCES = [
    ScoreRequest(QUESTION, ("The", "film", "was", "directed", "by", name, "in", "the", "past."))
    for name in ("Ada", "Bea", "Cay", "Dee", "Eve", "Fay", "Gil", "Hal")
]


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
@pytest.mark.parametrize("cache_entries", [0, 4096], scope="class")
class TestLabCrossEncoder(ScorerConformance):
    @pytest.fixture
    async def scorer(self, transport: str, cache_entries: int) -> AsyncIterator[ContributionScorer]:
        settings = ScorerSettings(model=FOLDER, cache_entries=cache_entries)
        async with open_scorer(settings) as engine, scorer_by(transport, engine) as scorer:
            yield scorer


@pytest.mark.parametrize("padding", ["longest", "bucket"], scope="class")
class TestLabCrossEncoderInSmallBatches(ScorerConformance):
    @pytest.fixture
    async def scorer(self, padding: str) -> AsyncIterator[ContributionScorer]:
        settings = ScorerSettings.read(
            model=FOLDER, cache_entries=0, max_batch_pairs=3, workers=2, padding=padding
        )
        async with open_scorer(settings) as scorer:
            yield scorer


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestLabCrossEncoderPermuted(ScorerConformance):
    @pytest.fixture
    async def scorer(self, transport: str) -> AsyncIterator[ContributionScorer]:
        settings = ScorerSettings(model=FOLDER, control="permuted")
        async with open_scorer(settings) as engine, scorer_by(transport, engine) as scorer:
            yield scorer


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_contributions_are_one_less_the_likeness_without_the_word(transport: str) -> None:
    model = open_cross_encoder(FOLDER, threads=1)
    request = ScoreRequest(QUESTION, ("Ada", "saw", "Ada", "saw", "it."))
    whole, altered = leave_one_out(request.question, request.words)
    similarity = [model.similarities(model.encode([(whole, text)]))[0] for text in altered]
    async with (
        open_scorer(ScorerSettings(model=FOLDER)) as engine,
        scorer_by(transport, engine) as scorer,
    ):
        (found,) = await scorer.score_contributions([request])
    assert found == pytest.approx([1 - each for each in similarity], abs=1e-6)


async def test_sentences_of_concurrent_calls_share_batches() -> None:
    model = open_cross_encoder(FOLDER, threads=1)
    alone = [model.similarities(encode_pairs(model, each, field="")) for each in SENTENCES]
    go_on = threading.Event()

    def compute(bucket: int, pairs: Sequence[TokenPair]) -> list[float]:
        go_on.wait()
        return [float(each) for each in model.similarities(pairs, width=bucket)]

    limits = BatchLimits(pair_tokens=512, batch_pairs=1000, queued_pairs=1000)
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(1) as executor:
        batcher = Batcher(compute, executor, limits)
        scorer = OnnxScorer(model, reader, batcher)
        calls = [asyncio.ensure_future(scorer.score_contributions([each])) for each in SENTENCES]
        await asyncio.sleep(0)
        # The reader takes one after another: this comes after the last call's sentence.
        await asyncio.get_running_loop().run_in_executor(reader, go_on.clear)
        await asyncio.sleep(0)
        go_on.set()
        found = await asyncio.gather(*calls)
    assert batcher.batches == 2
    assert batcher.computed_pairs == sum(len(each.words) for each in SENTENCES)
    for (row,), expected in zip(found, alone, strict=True):
        assert row == pytest.approx([1 - each for each in expected], abs=1e-6)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_sentence_that_many_ask_for_is_computed_once(transport: str) -> None:
    async with (
        open_scorer(ScorerSettings(model=FOLDER)) as engine,
        scorer_by(transport, engine) as scorer,
    ):
        calls = [scorer.score_contributions([SENTENCES[0]]) for _ in range(8)]
        first, *others = await asyncio.gather(*calls)
        assert others == [first] * 7
        assert await scorer.score_contributions(SENTENCES[:1]) == first
        assert isinstance(engine, CachedScorer)
        assert (engine.misses, engine.joined + engine.hits) == (1, 8)
