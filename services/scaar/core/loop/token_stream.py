"""The tokens of one generation, read one at a time and written ahead while the reader waits."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from scaar.core.errors import PromptTooLong, StreamIncomplete
from scaar.core.loop.budget import Budget, Part
from scaar.core.ports import Generator
from scaar.core.text.surrogates import encodable
from scaar.core.types import (
    Attention,
    FinishReason,
    GenerateRequest,
    GenerationEnd,
    GenerationEvent,
    GenerationProgress,
    GenerationStart,
    Token,
)

MAX_TOKENS_AHEAD = 64
"""Maximum number of tokens written ahead of their reader, which bounds the memory."""

_INCOMPLETE = "the generator's stream ended before its end"


@dataclass(frozen=True, slots=True)
class DraftedText:
    """A draft, and the place of a sentence in it.

    The sentence begins ``start`` characters, or ``tokens_before`` tokens, after the draft's start.
    ``token_ids`` are empty if they do not cover the text. ``ended`` is whether the model ended its
    text with the draft.
    """

    text: str
    token_ids: tuple[int, ...]
    start: int = 0
    tokens_before: int = 0
    ended: bool = False


class TokenStream:
    """A running generation. Its call counts as usage however it ends, except for a refused prompt.

    A token counts against the answer's limit when it is read first; what was written ahead and
    never read counts as usage only, so that an answer never depends on the speed of its judge.
    """

    def __init__(
        self, generator: Generator, request: GenerateRequest, budget: Budget, *, offset: int = 0
    ) -> None:
        """``offset`` characters of the current unit were written by an earlier generation."""
        self._request = request
        self._events: AsyncGenerator[GenerationEvent, None] = generator.generate(request)
        self._budget = budget
        self._returned = deque[Token]()
        self._ahead = deque[GenerationEvent | None]()
        self._writing: asyncio.Task[None] | None = None
        self._write_on = False
        self._base = -offset
        self._context = list[Token]()
        self._since = list[Token]()
        self._written = list[Token]()
        self._end: GenerationEnd | None = None
        self._end_attention: tuple[float, ...] = ()
        self._prompt_tokens: int | None = 0
        self._evaluated_tokens: int | None = None
        self._thinking_tokens = 0
        self._generated_tokens = 0
        self._counted = False
        self.finish_reason: FinishReason | None = None
        """Reason for the end of the generation; None until the end has been read."""

    @property
    def has_returned(self) -> bool:
        """Whether returned tokens are still to be read."""
        return bool(self._returned)

    @property
    def was_cut(self) -> bool:
        """Whether the generation ended at its token limit and not at the end of the text."""
        whole = self._generated_tokens >= self._request.max_tokens
        return self.finish_reason is FinishReason.LENGTH and whole

    async def read(self, stage: str) -> Token | GenerationProgress | None:
        """Return the next token; None at the end. Spans count from the last :meth:`continue_from`.

        While the model reads a long prompt, its progress is returned.

        Raises:
            DeadlineExceeded: the answer's time is used up; it names the stage.
            StreamIncomplete: the generator's stream ended before its end.
        """
        if self._returned:
            self._since.append(self._returned[0])
            return self._returned.popleft()
        while self.finish_reason is None:
            if self._ahead:
                event = self._ahead.popleft()
            else:
                async with self._budget.within(stage, Part.GENERATION):
                    event = await self._next()
            match event:
                case None:
                    raise StreamIncomplete(_INCOMPLETE)
                case GenerationEnd():
                    self.finish_reason = event.finish_reason
                    self._end_attention = event.attention
                case GenerationProgress():
                    return event
                case Token():
                    self._budget.count_token()
                    self._since.append(_moved(event, -self._base))
                    return self._since[-1]
        return None

    def continue_from(self, length: int, unread: Sequence[Token]) -> None:
        """Return unread tokens: the text continues with them after ``length`` characters."""
        read = len(self._since) - len(unread)
        end = self._end_of_context
        # Their attention, a thousand numbers per token, is no longer needed.
        self._context += (
            replace(token, start=token.start + end, end=token.end + end, attention=())
            for token in self._since[:read]
        )
        self._since.clear()
        self._base += length
        self._returned.extendleft(_moved(token, -length) for token in reversed(unread))

    async def draft(self, length: int, max_tokens: int, stage: str) -> DraftedText | None:
        """Write on, up to ``max_tokens`` of the generation, and return all that it has written.

        The sentence is the next ``length`` characters, and part of the draft in any case. None if
        an earlier generation began the sentence. Tokens that are written on count as usage, and
        against the answer's limit only when they are read.

        Raises:
            DeadlineExceeded: the answer's time is used up; it names the stage.
            StreamIncomplete: the generator's stream ended before its end.
        """
        async with self._budget.within(stage, Part.GENERATION):
            await self._join_writing()
            while self._end is None and len(self._written) < max_tokens:
                event = await self._receive()
                if event is None:
                    raise StreamIncomplete(_INCOMPLETE)
                self._ahead.append(event)
        if self._base < 0:
            return None
        before = sum(token.start < self._base for token in self._written)
        within = sum(token.start < self._base + length for token in self._written)
        tokens = self._written[: max(max_tokens, within)]
        return DraftedText(
            text="".join(token.text for token in tokens),
            token_ids=tuple(token.id for token in tokens),
            start=self._base,
            tokens_before=before,
            ended=self._end is not None
            and self._end.finish_reason is FinishReason.END_OF_SEQUENCE
            and len(tokens) == len(self._written),
        )

    def attention_of(self, tokens: Sequence[Token]) -> Attention | None:
        """Return the attention of the first tokens read since the last :meth:`continue_from`.

        None if it is not complete: it was not requested, nothing follows the last token yet, or
        some tokens belong to another generation.
        """
        count = len(tokens)
        if self._since[:count] != list(tokens):
            return None
        following = [token.attention for token in self._since[1 : count + 1]]
        if len(self._since) == count and self.finish_reason is not None:
            following.append(self._end_attention)
        seen = len(self._context) + 1
        if not 0 < count == len(following) or any(
            len(row) != seen + at for at, row in enumerate(following)
        ):
            return None
        end = self._end_of_context
        text = (*self._context, *(_moved(token, end) for token in tokens))
        return Attention(text, len(self._context), tuple(following))

    @property
    def _end_of_context(self) -> int:
        return self._context[-1].end if self._context else 0

    @asynccontextmanager
    async def writing_ahead(self) -> AsyncIterator[None]:
        """Let the model write ahead while the block does other work."""
        self._write_on = True
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_ahead())
        try:
            yield
        finally:
            self._write_on = False

    async def aclose(self) -> None:
        """End the generation, if it has not ended, and count its usage."""
        try:
            if self._writing is not None:
                self._writing.cancel()
                await asyncio.wait([self._writing])
                if not self._writing.cancelled():
                    # A failure ahead of the reader affects nobody.
                    self._writing.exception()
            await self._events.aclose()
        finally:
            self._count_usage()

    async def _next(self) -> GenerationEvent | None:
        """Return the next event."""
        await self._join_writing()
        return self._ahead.popleft() if self._ahead else await self._receive()

    async def _join_writing(self) -> None:
        if self._writing is not None:
            await self._writing
            self._writing = None

    async def _write_ahead(self) -> None:
        while self._write_on and len(self._ahead) < MAX_TOKENS_AHEAD:
            event = await self._receive()
            self._ahead.append(event)
            if event is None or isinstance(event, GenerationEnd):
                break

    async def _receive(self) -> GenerationEvent | None:
        try:
            event = await anext(self._events, None)
        except PromptTooLong:
            self._counted = True  # a refusal costs nothing
            raise
        if isinstance(event, Token):
            event = encodable(event)
        match event:
            case GenerationProgress():
                self._prompt_tokens = event.prompt_tokens
            case GenerationStart():
                self._prompt_tokens = event.prompt_tokens
                self._evaluated_tokens = event.evaluated_tokens
                self._context = list(event.tokens)
            case GenerationEnd():
                self._end = event
                self._prompt_tokens = event.prompt_tokens or None
                if event.evaluated_tokens is not None:
                    self._evaluated_tokens = event.evaluated_tokens
                self._generated_tokens = event.generated_tokens
                self._thinking_tokens = event.thinking_tokens
            case Token():
                self._generated_tokens += 1
                # Engines that count the prompt report it before the first token.
                self._prompt_tokens = self._prompt_tokens or None
                self._written.append(_without_attention(event))
        return event

    def _count_usage(self) -> None:
        if not self._counted:
            self._counted = True
            self._budget.count_call(
                prompt_tokens=self._prompt_tokens,
                generated_tokens=self._generated_tokens,
                thinking_tokens=self._thinking_tokens,
                evaluated_tokens=self._evaluated_tokens,
            )


def _without_attention(token: Token) -> Token:
    return replace(token, attention=()) if token.attention else token


def _moved(token: Token, by: int) -> Token:
    if by == 0:
        return token
    return replace(token, start=token.start + by, end=token.end + by)
