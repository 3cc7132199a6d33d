"""Streams that are closed with their block."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


@asynccontextmanager
async def open_stream(
    values: AsyncGenerator[_Value, None],
) -> AsyncIterator[AsyncIterator[_Value]]:
    """Give the values within the block, which closes them.

    Iterating the stream after the block raises ``RuntimeError``.
    """
    stream = _Stream(values)
    try:
        async with aclosing(values):
            yield stream
    finally:
        stream.closed = True


class _Stream(Generic[_Value]):
    def __init__(self, values: AsyncIterator[_Value]) -> None:
        self._values = values
        self.closed = False

    def __aiter__(self) -> AsyncIterator[_Value]:
        return self

    async def __anext__(self) -> _Value:
        if self.closed:
            raise RuntimeError("the stream is closed")
        return await anext(self._values)
