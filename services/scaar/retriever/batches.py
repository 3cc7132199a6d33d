"""Passages as they come, in batches that a thread takes at once."""

from collections.abc import AsyncGenerator, AsyncIterable

from scaar.core.types import Passage
from scaar.retriever.build_limits import BuildLimits, size_of

_MOST_PASSAGES, _MOST_BYTES = 512, 4_000_000


async def batches_of(
    passages: AsyncIterable[Passage], limits: BuildLimits
) -> AsyncGenerator[list[Passage], None]:
    """The passages in order, in bounded batches; the last one may be empty.

    Raises:
        InvalidRequest: all of them together are more than the limits allow.
    """
    batch: list[Passage] = []
    count = size = in_batch = 0
    async for passage in passages:
        batch.append(passage)
        count, in_batch = count + 1, in_batch + size_of(passage)
        limits.check("passages", passages=count, size_bytes=size + in_batch)
        if len(batch) >= _MOST_PASSAGES or in_batch >= _MOST_BYTES:
            yield batch
            batch, size, in_batch = [], size + in_batch, 0
    yield batch
