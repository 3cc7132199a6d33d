"""Writer of sentences, in one generation for as long as its text is accepted."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace

from scaar.core.loop.budget import Budget
from scaar.core.loop.token_stream import DraftedText, TokenStream
from scaar.core.ports import Generator
from scaar.core.text.sentences import SentenceSplitter
from scaar.core.types import (
    Attention,
    FinishReason,
    GenerateRequest,
    GenerationProgress,
    Token,
)

SENTENCE_MAX_TOKENS = 128
"""Maximum length of a sentence, in tokens; a longer one is cut."""

CALL_MAX_TOKENS = 1024
"""Maximum number of tokens of one generation; a longer text continues in the next one."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a window, with its tokens. ``last`` is whether the model ended its text here.

    ``token_ids`` are None if the tokens do not cover the text exactly, so that a generation must
    continue from the text.
    """

    text: str
    tokens: tuple[Token, ...]
    token_ids: tuple[int, ...] | None
    last: bool
    attention: Attention | None = None
    """Attention that its tokens pay, if the engine returned it with them."""
    draft: DraftedText | None = None
    """The draft that it is part of, if the writer writes on."""

    def up_to(self, length: int) -> "Sentence":
        """Return the first ``length`` characters as a sentence."""
        return sentence_of(self.tokens, self.text[:length])

    def then(self, rest: "Sentence") -> "Sentence":
        """Return the concatenation of both."""
        known = self.token_ids is not None and rest.token_ids is not None
        length = len(self.text)
        moved = (
            replace(token, start=token.start + length, end=token.end + length)
            for token in rest.tokens
        )
        return Sentence(
            text=self.text + rest.text,
            tokens=(*self.tokens, *moved),
            token_ids=(*(self.token_ids or ()), *(rest.token_ids or ())) if known else None,
            last=rest.last,
        )


Part = Token | GenerationProgress | Sentence
"""A part of what a writer yields."""


@dataclass(slots=True)
class Writing:
    """The accepted text, its tokens, and their ids while they are known."""

    text: str = ""
    token_ids: tuple[int, ...] | None = ()
    token_texts: list[str] = field(default_factory=list)
    token_logprobs: list[float | None] = field(default_factory=list)

    def with_(self, sentence: Sentence) -> "Writing":
        """Return the text followed by the sentence, without texts and numbers of tokens."""
        more = replace(self, token_texts=[], token_logprobs=[])
        more.accept(sentence)
        return more

    def accept(self, sentence: Sentence) -> None:
        """Append a sentence. The ids stay known while those of every sentence are known."""
        if self.token_ids is None or sentence.token_ids is None:
            self.token_ids = None
        else:
            self.token_ids = (*self.token_ids, *sentence.token_ids)
        self.text += sentence.text
        self.token_texts += (token.text for token in sentence.tokens)
        self.token_logprobs += (token.logprob for token in sentence.tokens)


class Writer:
    """Writes the text of an answer with a generator, within one budget.

    With ``draft_ahead``, one generation continues until it is stopped: because decoding is greedy,
    the text after an accepted sentence is the text that a new generation would write. Otherwise
    every sentence is a generation of its own.
    """

    def __init__(
        self,
        generator: Generator,
        budget: Budget,
        *,
        stop_strings: tuple[str, ...] = (),
        draft_ahead: bool = True,
        attention: bool = False,
        top_tokens: int = 0,
        draft_tokens: int = 0,
        call_max_tokens: int | None = None,
    ) -> None:
        """``call_max_tokens`` limits a generation; the default is the rest of the budget.

        With ``draft_tokens``, the model writes on to a draft of this length before a sentence is
        returned, and the next sentence continues with what is written. With ``attention``, a
        sentence has the attention that its tokens pay, if the engine returns it. Every token has
        the ``top_tokens`` most probable tokens at its place.
        """
        self._generator = generator
        self._budget = budget
        self._stop_strings = stop_strings
        self._draft_tokens = draft_tokens
        self._draft_ahead = draft_ahead or draft_tokens > 0
        self._attention = attention
        self._top_tokens = top_tokens
        self._call_max_tokens = call_max_tokens
        self._stream: TokenStream | None = None

    @property
    def has_more(self) -> bool:
        """Whether tokens after the last sentence have already been read."""
        return self._stream is not None and self._stream.has_returned

    async def sentence(
        self, prompt: str, so_far: Writing, *, stage: str, partial: str = ""
    ) -> AsyncGenerator[Part, None]:
        """Yield the tokens of the next sentence as they are written, then the sentence.

        The progress of reading a long prompt comes before the tokens.

        ``partial`` is the incomplete sentence at the end of ``so_far``, if there is one; the rest
        is empty if that sentence was complete. The tokens that are read only to find the end of the
        sentence are not yielded. Until the writer is stopped, ``prompt`` must not change, and
        ``so_far`` must grow by the written text.

        Raises:
            PromptTooLong: before any token.
        """
        before = so_far.text[: len(so_far.text) - len(partial)]
        splitter, tokens, shown = SentenceSplitter(before), list[Token](), 0
        done, length = sum(map(len, splitter.feed(partial))), -1
        while length < 0 and len(tokens) < SENTENCE_MAX_TOKENS:
            token = await self._read(prompt, so_far, stage, tokens)
            if token is None:
                break
            if isinstance(token, GenerationProgress):
                yield token
                continue
            tokens.append(token)
            for complete in splitter.feed(token.text):
                done += len(complete)
                if done >= len(partial):
                    length = done - len(partial)
                    break
            else:
                certain = done + splitter.certain - len(partial)
                while shown < len(tokens) and tokens[shown].start < certain:
                    yield tokens[shown]
                    shown += 1
        sentence = self._cut(tokens, length)
        for token in sentence.tokens[shown:]:
            yield token
        if self._attention and self._stream is not None:
            attention = self._stream.attention_of(sentence.tokens)
            sentence = replace(sentence, attention=attention)
        if self._draft_tokens and self._stream is not None:
            draft = await self._stream.draft(len(sentence.text), self._draft_tokens, stage)
            sentence = replace(sentence, draft=draft)
        await self._continue_after(sentence, tokens)
        yield sentence

    async def window(
        self, prompt: str, so_far: Writing, *, stage: str, length: int
    ) -> AsyncGenerator[Part, None]:
        """Yield the next ``length`` tokens as they are written, then all of them as one window.

        A character that starts in the last token is completed. Otherwise as :meth:`sentence`.
        """
        tokens = list[Token]()
        while len(tokens) < length or tokens[-1].start == tokens[-1].end:
            token = await self._read(prompt, so_far, stage, tokens)
            if token is None:
                break
            if isinstance(token, GenerationProgress):
                yield token
                continue
            tokens.append(token)
            yield token
        window = self._cut(tokens, -1)
        await self._continue_after(window, tokens)
        yield window

    async def passage(
        self, prompt: str, *, stage: str, max_tokens: int, stop: tuple[str, ...] = ()
    ) -> Sentence:
        """Return a text of at most ``max_tokens``, from a generation of its own.

        It ends before a ``stop`` string too, beside those of the writer.

        Raises:
            PromptTooLong: before any token.
        """
        apart = self._apart(max_tokens, stop)
        try:
            text = apart.window(prompt, Writing(), stage=stage, length=max_tokens)
            return await last_sentence(text)
        finally:
            await apart.stop()

    async def write(
        self,
        prompt: str,
        so_far: Writing,
        *,
        stage: str,
        max_tokens: int,
        prefix: Sentence | None = None,
    ) -> Sentence:
        """Return the next sentence, from a generation of its own that ends with the sentence.

        ``prefix`` is the start of the sentence, which ``so_far`` does not contain yet; the result
        is the rest of the sentence.

        Raises:
            PromptTooLong: before any token.
        """
        apart = self._apart(max_tokens)
        try:
            before, partial = (
                (so_far, "") if prefix is None else (so_far.with_(prefix), prefix.text)
            )
            return await last_sentence(apart.sentence(prompt, before, stage=stage, partial=partial))
        finally:
            await apart.stop()

    def _apart(self, max_tokens: int, stop: tuple[str, ...] = ()) -> "Writer":
        """Return a writer for one generation."""
        return Writer(
            self._generator,
            self._budget,
            stop_strings=(*self._stop_strings, *stop),
            draft_ahead=False,
            call_max_tokens=max_tokens,
        )

    @asynccontextmanager
    async def writing_ahead(self) -> AsyncIterator[None]:
        """Let the model write ahead while the block does other work."""
        if self._stream is None:
            yield
            return
        async with self._stream.writing_ahead():
            yield

    async def stop(self) -> None:
        """Stop the current generation, if there is one. The next sentence starts a new one."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()

    async def _read(
        self, prompt: str, so_far: Writing, stage: str, tokens: Sequence[Token]
    ) -> Token | GenerationProgress | None:
        """Return the next token; None if the text ends or the budget is used up."""
        if self._stream is None:
            self._stream = self._open(prompt, so_far, tokens)
        token = await self._stream.read(stage)
        if token is not None or not self._stream.was_cut or self._call_max_tokens is not None:
            return token
        if self._budget.remaining_tokens <= 0 or not self._draft_ahead:
            return None
        await self.stop()
        return await self._read(prompt, so_far, stage, tokens)

    def _open(self, prompt: str, so_far: Writing, tokens: Sequence[Token]) -> TokenStream:
        """Start a generation that continues the accepted text and the tokens."""
        if tokens:
            so_far = so_far.with_(sentence_of(tokens, "".join(token.text for token in tokens)))
        call = CALL_MAX_TOKENS if self._draft_ahead else SENTENCE_MAX_TOKENS
        request = GenerateRequest(
            prompt=prompt,
            prefix=so_far.text,
            prefix_token_ids=so_far.token_ids or (),
            max_tokens=self._call_max_tokens or min(call, self._budget.remaining_tokens),
            stop=self._stop_strings,
            top_tokens=self._top_tokens,
            attention=self._attention,
        )
        offset = tokens[-1].end if tokens else 0
        return TokenStream(self._generator, request, self._budget, offset=offset)

    def _cut(self, tokens: Sequence[Token], length: int) -> Sentence:
        """Return the first ``length`` characters as a sentence; all if ``length`` is negative."""
        text = "".join(token.text for token in tokens)
        if length >= 0:
            return sentence_of(tokens, text[:length])
        ended = self._stream is not None and self._stream.finish_reason in (
            FinishReason.END_OF_SEQUENCE,
            FinishReason.STOP,
        )
        return sentence_of(tokens, text, last=ended)

    async def _continue_after(self, sentence: Sentence, tokens: Sequence[Token]) -> None:
        if self._stream is None:
            return
        if self._draft_ahead and sentence.token_ids is not None:
            self._stream.continue_from(len(sentence.text), tokens[len(sentence.tokens) :])
        else:
            await self.stop()


async def last_sentence(parts: AsyncGenerator[Part, None]) -> Sentence:
    """Return the sentence at the end of the stream, without its tokens."""
    async with aclosing(parts):
        async for part in parts:
            if isinstance(part, Sentence):
                return part
    raise AssertionError("the stream ends with its sentence or raises")


def sentence_of(tokens: Sequence[Token], text: str, *, last: bool = False) -> Sentence:
    """Return the text with the tokens that start in it."""
    mine = tuple(token for token in tokens if token.start < len(text))
    covered = not mine or mine[-1].end == len(text)
    ids = tuple(token.id for token in mine) if covered else None
    return Sentence(text, mine, ids, last)
