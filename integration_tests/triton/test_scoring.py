"""Results of the real Triton server, and the requests to it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tritonclient.grpc import InferInput
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException

from scaar.core.types import ScoreRequest
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.triton_repository.golden import GOLDEN_FILE, check_parity, read_golden
from scaar.scorer.triton_repository.model_config import MODEL_NAME

from ..servers.triton.gated_model import Gate, held_back, score
from ..servers.triton.running_triton import RunningTriton, running_triton
from ..servers.triton.triton_counts import counts_of, counts_since, queued
from ..servers.triton.triton_server import TritonServer

SettingsFor = Callable[..., ScorerSettings]


def inputs_of(ids: Sequence[Sequence[int]], mask: Sequence[Sequence[int]]) -> list[InferInput]:
    given = []
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    for name, rows in arrays.items():
        array = np.asarray(rows, np.int64)
        given.append(InferInput(name, list(array.shape), "INT64").set_data_from_numpy(array))
    return given


async def test_contributions_are_those_of_the_embedded_scorer(
    triton: RunningTriton, settings_for: SettingsFor, sentences: list[ScoreRequest]
) -> None:
    long = ScoreRequest("Who " + "of the very old " * 120 + "was it?", sentences[0].words)
    requested = [*sentences, long, ScoreRequest("Wer schrieb »Faust«?", ("Göthe", "🙂", "es"))]
    embedded = ScorerSettings(model=model_folder(LAB_CROSS_ENCODER), cache_entries=0)
    async with open_scorer(settings_for(triton)) as scorer, open_scorer(embedded) as other:
        found = await scorer.score_contributions(requested)
        expected = await other.score_contributions(requested)
    for one, another in zip(found, expected, strict=True):
        assert one == pytest.approx(another, abs=1e-5)


async def test_the_model_reports_its_revision(
    triton: RunningTriton, settings_for: SettingsFor
) -> None:
    embedded = ScorerSettings(model=model_folder(LAB_CROSS_ENCODER))
    async with open_scorer(settings_for(triton)) as scorer, open_scorer(embedded) as other:
        found, expected = await scorer.describe_model(), await other.describe_model()
    assert found.engine == "triton"
    assert (found.model, found.revision) == (expected.model, expected.revision)
    assert found.max_pair_tokens == expected.max_pair_tokens


async def test_triton_batches_sixteen_concurrent_sentences(
    server: TritonServer, gate: Gate, settings_for: SettingsFor, sentences: list[ScoreRequest]
) -> None:
    with running_triton(server, gate.repository) as running:
        async with open_scorer(settings_for(running)) as scorer:
            warm = await counts_of(running)
            calls = await held_back(gate, scorer, sentences[:2])
            calls += [asyncio.create_task(score(scorer, each)) for each in sentences[2:]]
            await queued(running, 14)
            gate.open()
            found = await asyncio.gather(*calls)
        counted = await counts_since(warm, running, requests=16)
    assert [len(row) for row in found] == [9] * 16
    assert (counted.requests, counted.pairs) == (16, 16 * 9)
    # Two alone, and of the fourteen that waited seven at a time: 63 pairs of at most 64.
    assert counted.executions == 4


async def test_a_cached_sentence_is_not_sent_to_triton(
    server: TritonServer, exported: Path, settings_for: SettingsFor, sentences: list[ScoreRequest]
) -> None:
    with running_triton(server, exported) as running:
        async with open_scorer(settings_for(running, cache_entries=16)) as scorer:
            warm = await counts_of(running)
            first = await scorer.score_contributions(sentences[:2])
            assert await scorer.score_contributions(sentences[:2]) == first
        counted = await counts_since(warm, running, requests=2)
    assert counted.requests == 2


async def test_requests_of_several_lengths_give_equal_results_together_and_alone(
    triton: RunningTriton,
) -> None:
    rows = ([1, 265, 309], [1, 265, 309, 223, 35, 70, 67], [1, 67])
    async with InferenceServerClient(triton.target) as client:

        async def logits(row: list[int]) -> float:
            answer = await client.infer(MODEL_NAME, inputs_of([row], [[1] * len(row)]))
            return float(answer.as_numpy("logits")[0, 0])

        alone = [await logits(row) for row in rows]
        together = await asyncio.gather(*[logits(row) for row in rows * 8])
    assert together == pytest.approx(alone * 8, abs=1e-5)


async def test_an_empty_mask_is_rejected_and_affects_no_other_call(triton: RunningTriton) -> None:
    row = [1, 265, 309]
    async with InferenceServerClient(triton.target) as client:
        requested = [inputs_of([row], [[each] * 3]) for each in (1, 0) * 8]
        calls = [client.infer(MODEL_NAME, each) for each in requested]
        ended = await asyncio.gather(*calls, return_exceptions=True)
    for good, refused in zip(ended[::2], ended[1::2], strict=True):
        assert np.isfinite(good.as_numpy("logits")).all()
        assert isinstance(refused, InferenceServerException)
        assert refused.status() == "StatusCode.INVALID_ARGUMENT"
        assert "attention_mask must have a 1 in every row" in refused.message()


async def test_the_model_in_triton_reproduces_the_golden_pairs(
    triton: RunningTriton, exported: Path
) -> None:
    golden = read_golden(exported / MODEL_NAME / GOLDEN_FILE)
    assert {len(pair.input_ids) > 256 for pair in golden.pairs} == {True, False}
    logits = []
    async with InferenceServerClient(triton.target) as client:
        for pair in golden.pairs:
            inputs = inputs_of([pair.input_ids], [[1] * len(pair.input_ids)])
            inputs[2].set_data_from_numpy(np.asarray([pair.token_type_ids], np.int64))
            answer = await client.infer(MODEL_NAME, inputs)
            logits.append(float(answer.as_numpy("logits")[0, 0]))
    assert check_parity(golden.pairs, logits) < 1e-5
