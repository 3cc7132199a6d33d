"""Removal of what a model thinks before its answer, which no policy judges.

A server reports thoughts in fields of their own, or within the text between ``<think>`` and
``</think>``, or only as a number of tokens.
"""

import enum
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from scaar.core.errors import CapabilityMissing
from scaar.generator.engines.openai_server.chunks import Delta
from scaar.generator.engines.served.text import ServedToken

_OPEN, _CLOSE = "<think>", "</think>"


class Unanswered(CapabilityMissing):
    """The model used up its tokens before it wrote a part of its answer."""


class _Place(enum.Enum):
    START = enum.auto()
    """Nothing was written but white space or the beginning of a tag."""
    TAGGED = enum.auto()
    THOUGHT = enum.auto()
    """The model has thought; the answer starts with the next text."""
    ANSWER = enum.auto()


class ThinkingFilter:
    """Reduces deltas to the answer. ``tokens`` is the number of tokens of the thoughts."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._place = _Place.START
        self._text = ""
        self._held: tuple[ServedToken, ...] = ()
        self.tokens = 0

    def feed(self, delta: Delta) -> Delta:
        """Return the part of the delta that belongs to the answer, with its tokens.

        Raises:
            CapabilityMissing: the thoughts exceed their budget, or their start was not marked.
        """
        text, tokens = self._text + delta.text, (*self._held, *delta.tokens)
        self._text, self._held = "", ()
        if delta.thinking and self._place is not _Place.ANSWER:
            self._place = _Place.THOUGHT
        if self._place is _Place.START:
            text, tokens = self._started(text, tokens, ended=delta.finish_reason is not None)
        elif self._place is _Place.ANSWER:
            self._check_tag(text)
        if self._place is _Place.TAGGED:
            text, tokens = self._tagged(text, tokens)
        if self._place is _Place.THOUGHT:
            text, tokens = self._thought(text, tokens, delta.thinking)
        if self.tokens > self._max_tokens:
            raise CapabilityMissing(_too_long(self._max_tokens))
        count = delta.thinking_tokens
        self.tokens = self.tokens if count is None else count
        return replace(delta, text=text, tokens=tokens, thinking="", thinking_tokens=self.tokens)

    def _started(
        self, text: str, tokens: tuple[ServedToken, ...], *, ended: bool
    ) -> tuple[str, tuple[ServedToken, ...]]:
        bare = text.lstrip()
        if bare.startswith(_OPEN):
            self._place = _Place.TAGGED
            return bare.removeprefix(_OPEN), tokens
        if not ended and _OPEN.startswith(bare):
            self._text, self._held = text, tokens
            return "", ()
        if bare:
            self._place = _Place.ANSWER
            self._check_tag(text)
        return text, tokens

    def _tagged(
        self, text: str, tokens: tuple[ServedToken, ...]
    ) -> tuple[str, tuple[ServedToken, ...]]:
        _, closed, rest = text.partition(_CLOSE)
        if closed:
            self._place = _Place.THOUGHT
            return rest, tokens
        self.tokens += len(tokens) or bool(text)
        # The end of the text may be the beginning of the closing tag.
        self._text = text[-len(_CLOSE) + 1 :]
        return "", ()

    def _thought(
        self, text: str, tokens: tuple[ServedToken, ...], thinking: str
    ) -> tuple[str, tuple[ServedToken, ...]]:
        answer = text.lstrip()
        kept = tokens_at_the_end(answer, tokens)
        self.tokens += len(tokens) - len(kept) or (bool(thinking) and not tokens)
        if answer:
            self._place = _Place.ANSWER
        return answer, kept

    def _check_tag(self, text: str) -> None:
        if _CLOSE in text:
            raise CapabilityMissing(
                f"the model thinks within its answer, which {_CLOSE} ends but {_OPEN} does not "
                "start: start its server with a parser of its reasoning"
            )


def tokens_at_the_end(text: str, tokens: Sequence[ServedToken]) -> tuple[ServedToken, ...]:
    """Return the last tokens, which write the text; none if no number of them does."""
    for at in range(len(tokens)):
        if text and "".join(token.text for token in tokens[at:]).lstrip() == text:
            return tuple(tokens[at:])
    return ()


def thinks_first(delta: Delta) -> bool:
    """Return whether a generation that starts like this starts with a thought.

    A model whose thoughts are hidden uses up its tokens without any text.
    """
    bare = delta.text.lstrip()
    hidden = delta.finish_reason == "length" and not (delta.text or delta.tokens)
    tag = bool(bare) and (bare.startswith(_OPEN) or _OPEN.startswith(bare))
    return bool(delta.thinking) or hidden or tag


async def answer_deltas(
    deltas: AsyncGenerator[Delta, None], *, max_tokens: int | None, max_thinking_tokens: int
) -> AsyncGenerator[Delta, None]:
    """Yield the deltas of the answer, which ends after ``max_tokens`` of its own tokens.

    ``max_tokens`` is None if the server ends it, which then reports the usage.

    Raises:
        Unanswered: the server's limit was reached before the answer started.
        CapabilityMissing: the thoughts exceed ``max_thinking_tokens``.
    """
    thinking, written = ThinkingFilter(max_thinking_tokens), 0
    async for delta in deltas:
        answer = thinking.feed(delta)
        written += len(answer.tokens) or bool(answer.text)
        if delta.finish_reason == "length" and not written:
            raise Unanswered(_too_long(max_thinking_tokens))
        if max_tokens is not None and written >= max_tokens and delta.finish_reason is None:
            count = written + thinking.tokens
            yield replace(answer, finish_reason="length", generated_tokens=count)
            return
        if answer != Delta(thinking_tokens=answer.thinking_tokens):
            yield answer


def _too_long(limit: int) -> str:
    return (
        f"the model used up its tokens, {limit} of them for thinking, before it answered: raise "
        "SCAAR_GENERATOR_MAX_THINKING_TOKENS, or switch thinking off on its server"
    )
