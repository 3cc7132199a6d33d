"""Measures the overhead of the scorer over Triton's own client, on the real server.

    python -m integration_tests.triton.overhead

The same sentences, turn about: by the scorer, whole; and their tokens, read and padded before, by
the client alone. The memory of contributions is off.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles

import numpy as np
from tritonclient.grpc import InferInput
from tritonclient.grpc.aio import InferenceServerClient

from scaar.core.types import ScoreRequest
from scaar.encoders.checkpoint import read_checkpoint
from scaar.encoders.pair_reader import build_pair_reader
from scaar.encoders.tensor_names import OUTPUT
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.scorer.engines.pairs import encode_requests
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.triton_repository.export import export_scorer
from scaar.scorer.triton_repository.model_config import MODEL_NAME, Backend

from ..servers.triton.running_triton import RunningTriton, running_triton
from ..servers.triton.triton_server import set_up

CALLS, WARM_UP = 200, 20
FOLDER = model_folder(LAB_CROSS_ENCODER)
QUESTION = "Who directed the film The Haunted Fountain?"
SENTENCE = ScoreRequest(QUESTION, tuple("The film was directed by Ada in the past.".split()))


async def measure(running: RunningTriton) -> None:
    """Print the milliseconds of both, and their difference."""
    reader = build_pair_reader(read_checkpoint(FOLDER, weights=False))
    pairs = list(dict.fromkeys(encode_requests(reader, [SENTENCE])))
    padded = reader.padded(pairs, width=64)
    settings = ScorerSettings(
        engine="triton", model=FOLDER, triton_target=running.target, cache_entries=0
    )
    async with open_scorer(settings) as scorer, InferenceServerClient(running.target) as client:

        async def raw() -> None:
            inputs = []
            for name, array in padded.items():
                given = InferInput(name, list(array.shape), "INT64")
                inputs.append(given.set_data_from_numpy(array))
            answer = await client.infer(MODEL_NAME, inputs)
            assert np.isfinite(answer.as_numpy(OUTPUT)).all()

        async def whole() -> None:
            await scorer.score_contributions([SENTENCE])

        took: dict[str, list[float]] = {"tritonclient": [], "scorer": []}
        for number in range(WARM_UP + CALLS):
            for name, call in (("tritonclient", raw), ("scorer", whole)):
                ms = await _timed(call)
                if number >= WARM_UP:
                    took[name].append(ms)
    print(f"{CALLS} calls of {len(pairs)} pairs of 64 tokens each, turn about, in ms")
    for name, ms in took.items():
        print(f"{name:14}median {median(ms):.2f}, 95th percentile {quantiles(ms, n=20)[-1]:.2f}")
    added = [one - other for one, other in zip(took["scorer"], took["tritonclient"], strict=True)]
    print(f"{'added':14}median {median(added):.2f}")


async def _timed(call: Callable[[], Awaitable[None]]) -> float:
    started = time.perf_counter()
    await call()
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        repository = Path(work) / "repository"
        export_scorer(FOLDER, repository, backend=Backend.PYTHON)
        with running_triton(set_up(), repository) as started:
            asyncio.run(measure(started))
