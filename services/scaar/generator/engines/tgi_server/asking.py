"""How a TGI server is asked: again where it may be, for as much as there is room for."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from scaar.core.errors import InvalidRequest, PromptTooLong, ScaarError
from scaar.core.types import GenerateRequest
from scaar.generator.engines.served.stream import served_answer, served_stream
from scaar.generator.engines.tgi_server.client import ServerInfo, TgiClient, TgiEvent
from scaar.generator.engines.tgi_server.model import TgiModel
from scaar.generator.engines.tgi_server.prompt import PromptCount
from scaar.generator.settings import GeneratorSettings
from scaar.generator.validation import check_room

Sleep = Callable[[float], Awaitable[None]]


class TgiAsking:
    """Generations of a server, and what it says of its ``model``, which a failure puts in doubt."""

    def __init__(
        self, client: TgiClient, settings: GeneratorSettings, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._client = client
        self._silence_s = settings.read_timeout_s
        self._sleep = sleep
        self.model = TgiModel(self._info, name=settings.model, server=client.base_url)

    def count(self, text: str) -> PromptCount:
        """The tokens of a prompt, counted while a block runs."""
        return PromptCount(self._client, text)

    async def events(
        self, text: str, request: GenerateRequest, count: PromptCount
    ) -> AsyncGenerator[TgiEvent, None]:
        """The events of a generation of as many tokens as are asked for, or as there is room for.

        Raises:
            PromptTooLong: there is room for none.
        """
        most: int | None = request.max_tokens
        while most is not None:
            asked, most, begun = most, None, False
            try:
                async with aclosing(self._stream(text, asked, request.top_tokens)) as events:
                    async for event in events:
                        begun = True
                        yield event
            except InvalidRequest as refused:
                # The server refuses a request for more tokens than it has room for.
                if begun or asked < request.max_tokens:
                    raise
                most = await self._room(asked, refused, count)
            except ScaarError:
                self.model.doubt()
                raise

    async def _room(self, asked: int, refused: InvalidRequest, count: PromptCount) -> int:
        """How many tokens may follow a text after which so many were refused.

        Raises:
            PromptTooLong: none.
            InvalidRequest: as many as were asked for: they were refused for something else.
        """
        if isinstance(refused, PromptTooLong):
            raise refused
        info, tokens = await self.model.asked(), await count.tokens()
        if tokens is None:
            # All else was checked before, so that the length is what is left to refuse.
            raise PromptTooLong.of("prompt", refused.violations[0].description) from refused
        check_room("prompt", tokens, min(info.max_input_tokens, info.max_total_tokens - 1))
        room = info.max_total_tokens - tokens
        if room >= asked:
            raise refused
        return room

    def _stream(
        self, text: str, max_tokens: int, top_tokens: int
    ) -> AsyncGenerator[TgiEvent, None]:
        return served_stream(
            lambda: self._client.generate_stream(
                text,
                do_sample=False,
                max_new_tokens=max_tokens,
                top_n_tokens=top_tokens or None,
            ),
            server=self._client.base_url,
            silence_s=self._silence_s,
            sleep=self._sleep,
        )

    async def _info(self) -> ServerInfo:
        return await served_answer(
            self._client.info,
            server=self._client.base_url,
            silence_s=self._silence_s,
            sleep=self._sleep,
        )
