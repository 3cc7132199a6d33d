"""What Triton itself counts of the model."""

import asyncio
import re
import urllib.request
from dataclasses import dataclass
from typing import Self

from tritonclient.grpc.aio import InferenceServerClient

from scaar.scorer.triton_repository.model_config import MODEL_NAME

from .running_triton import PATIENCE_S, RunningTriton


@dataclass(frozen=True, slots=True)
class Counts:
    """Requests that were answered, and the executions and pairs that this took."""

    requests: int
    executions: int
    pairs: int

    def __sub__(self, before: Self) -> "Counts":
        return Counts(
            self.requests - before.requests,
            self.executions - before.executions,
            self.pairs - before.pairs,
        )


async def counts_of(running: RunningTriton) -> Counts:
    """The counts so far, those of the warm-up among them."""
    async with InferenceServerClient(running.target) as client:
        (found,) = (await client.get_inference_statistics(MODEL_NAME)).model_stats
    answered = found.inference_stats.success.count
    return Counts(answered, found.execution_count, found.inference_count)


async def counts_since(before: Counts, running: RunningTriton, *, requests: int) -> Counts:
    """Return the counts since then, once they include this number of requests.

    Triton counts a request after it has answered it.
    """
    async with asyncio.timeout(PATIENCE_S):
        while (await counts_of(running) - before).requests < requests:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)
    return await counts_of(running) - before


async def queued(running: RunningTriton, requests: int) -> None:
    """Wait until this number of requests is in the model's queue."""
    url = f"http://127.0.0.1:{running.metrics_port}/metrics"
    pending = re.compile(r"^nv_inference_pending_request_count\{.*\} (\d+)", re.MULTILINE)

    def waiting() -> int:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return sum(int(each) for each in pending.findall(answer.read().decode()))

    async with asyncio.timeout(PATIENCE_S):
        while await asyncio.to_thread(waiting) != requests:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
