"""Requests to a TGI server, with retries and token counts."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Self, TypeVar

from scaar.core.errors import InvalidRequest, PromptTooLong, ScaarError
from scaar.core.types import GenerateRequest
from scaar.generator.engines.served.silence import ReadingSpeed
from scaar.generator.engines.served.stream import served_answer, served_stream
from scaar.generator.engines.tgi_server.client import (
    ServerInfo,
    TgiClient,
    TgiEvent,
    TgiInputToken,
    TgiSpan,
)
from scaar.generator.engines.tgi_server.model import TgiModel
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import check_room

_Answer = TypeVar("_Answer")
Sleep = Callable[[float], Awaitable[None]]
PATIENCE_S = 1.0
"""Seconds to wait for a token count that is not there when the tokens are; it is only usage."""


class PromptCount:
    """Token count of a prompt, requested when the block starts and cancelled when it ends."""

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
            self._counting.exception()  # a failed count fails nothing else

    async def tokens(self) -> int | None:
        """Return the count; None if the server does not give it in time."""
        await asyncio.wait([self._counting], timeout=PATIENCE_S)
        if not self._counting.done():
            return None
        try:
            return self._counting.result()
        except ScaarError:
            return None


class TgiCalls:
    """Calls to one server, and the description of its ``model``, which a failure invalidates."""

    def __init__(
        self, client: TgiClient, settings: GeneratorSettings, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._client = client
        self._speed = ReadingSpeed(settings.read_timeout_s)
        self._sleep = sleep
        self.server = client.base_url
        self.model = TgiModel(self._info, name=settings.model, server=self.server)

    def count(self, text: str) -> PromptCount:
        """Return a count of the prompt's tokens, requested while its block runs."""
        return PromptCount(self._client, text)

    async def events(
        self, text: str, request: GenerateRequest, count: PromptCount
    ) -> AsyncGenerator[TgiEvent, None]:
        """Yield the events of a generation, with fewer tokens if the context has no room for all.

        Raises:
            PromptTooLong: the context has no room for any token.
        """
        maximum: int | None = request.max_tokens
        while maximum is not None:
            requested, maximum, started = maximum, None, False
            began = time.monotonic()
            try:
                async with aclosing(self._stream(text, requested, request)) as events:
                    async for event in events:
                        if not started:
                            self._speed.observe(len(text), time.monotonic() - began)
                        started = True
                        yield event
            except InvalidRequest as rejection:
                # The server rejects requests for more tokens than its context has room for.
                if started or requested < request.max_tokens:
                    raise
                maximum = await self._room(requested, rejection, count)
            except ScaarError:
                self.model.invalidate()
                raise

    async def _room(self, requested: int, rejection: InvalidRequest, count: PromptCount) -> int:
        """Return the number of tokens that fit the context, after a rejection.

        Raises:
            PromptTooLong: no token fits.
            InvalidRequest: the requested tokens fit, so the rejection has another reason.
        """
        if isinstance(rejection, PromptTooLong):
            raise rejection
        info, tokens = await self.model.refreshed(), await count.tokens()
        if tokens is None:
            # Everything else was validated before, so the length is the reason.
            raise PromptTooLong.of("prompt", rejection.violations[0].description) from rejection
        check_room("prompt", tokens, min(info.max_input_tokens, info.max_total_tokens - 1))
        room = info.max_total_tokens - tokens
        if room >= requested:
            raise rejection
        return room

    async def prefill(self, text: str) -> tuple[list[TgiSpan], list[TgiInputToken]]:
        """Return the spans and the log-probabilities of a text's tokens, special ones included."""
        try:
            return (
                await self._answered(lambda: self._client.tokenize(text)),
                await self._answered(lambda: self._client.prefill(text), text),
            )
        except ScaarError:
            self.model.invalidate()
            raise

    def _stream(
        self, text: str, max_tokens: int, request: GenerateRequest
    ) -> AsyncGenerator[TgiEvent, None]:
        sampled = request.temperature > 0
        return served_stream(
            lambda: self._client.generate_stream(
                text,
                do_sample=sampled,
                temperature=request.temperature if sampled else None,
                seed=request.seed if sampled else None,
                max_new_tokens=max_tokens,
                top_n_tokens=request.top_tokens or None,
            ),
            server=self._client.base_url,
            silence=self._speed.limits(len(text)),
            sleep=self._sleep,
        )

    async def _info(self) -> ServerInfo:
        return await self._answered(self._client.info)

    async def _answered(self, ask: Callable[[], Awaitable[_Answer]], text: str = "") -> _Answer:
        """Return the response of a call; ``text`` is what the model reads for it."""
        return await served_answer(
            ask,
            server=self._client.base_url,
            silence=self._speed.limits(len(text)),
            sleep=self._sleep,
        )
