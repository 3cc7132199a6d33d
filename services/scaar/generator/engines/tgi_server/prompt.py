"""How long a prompt is, asked of the server while it reads the prompt."""

import asyncio
from types import TracebackType
from typing import Self

from scaar.core.errors import ScaarError
from scaar.generator.engines.tgi_server.client import TgiClient

PATIENCE_S = 1.0
"""What is waited for a count that is not there when it is wanted: it is for the bill only."""


class PromptCount:
    """Counts from when the block is entered; nothing is counted any more when it is left."""

    def __init__(self, client: TgiClient, text: str) -> None:
        self._client = client
        self._text = text

    async def __aenter__(self) -> Self:
        self._counting = asyncio.create_task(self._client.count_tokens(self._text))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._counting.cancel()
        await asyncio.wait([self._counting])
        if not self._counting.cancelled():
            self._counting.exception()  # what failed here has failed nobody

    async def tokens(self) -> int | None:
        """The count; None where the server does not give it."""
        await asyncio.wait([self._counting], timeout=PATIENCE_S)
        if not self._counting.done():
            return None
        try:
            return self._counting.result()
        except ScaarError:
            return None
