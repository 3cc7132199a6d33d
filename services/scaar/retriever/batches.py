"""Batches of a stream of passages, small enough for one step of a thread."""

from collections.abc import AsyncGenerator, AsyncIterable

from scaar.core.types import Passage
from scaar.retriever.build_limits import BuildLimits, size_of

_MAX_PASSAGES, _MAX_BYTES = 512, 4_000_000


async def batches_of(
    passages: AsyncIterable[Passage], limits: BuildLimits
) -> AsyncGenerator[list[Passage], None]:
    """Yield the passages in order, in bounded batches. The last batch may be empty.

    Raises:
        InvalidRequest: all passages together exceed the limits.
    """
    batch: list[Passage] = []
    count = size = in_batch = 0
    async for passage in passages:
        batch.append(passage)
        count, in_batch = count + 1, in_batch + size_of(passage)
        limits.check("passages", passages=count, size_bytes=size + in_batch)
        if len(batch) >= _MAX_PASSAGES or in_batch >= _MAX_BYTES:
            yield batch
            batch, size, in_batch = [], size + in_batch, 0
    yield batch
