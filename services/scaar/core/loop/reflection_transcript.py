"""The text of an answer with its reflection tokens, as the model reads and continues it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scaar.core.errors import PromptTooLong
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.prompted_writing import CONCLUSION_MAX_TOKENS
from scaar.core.loop.reflection_scores import probabilities_at
from scaar.core.loop.token_stream import TokenStream
from scaar.core.loop.writer import SENTENCE_MAX_TOKENS, Sentence
from scaar.core.prompts.reflection import (
    CONTINUE_EVIDENCE,
    DECISIONS,
    JUDGEMENTS,
    NO_RETRIEVAL,
    PARAGRAPH,
    REFLECTION_TOKENS,
    RETRIEVAL,
    paragraph,
    with_tokens_apart,
    without_tokens,
)
from scaar.core.text.sentences import split_sentences
from scaar.core.types import (
    FinishReason,
    GenerateRequest,
    GenerationProgress,
    RetrievedPassage,
    Token,
)

_ENDS = frozenset({*DECISIONS, PARAGRAPH})
"""Tokens with which the model begins another segment."""


@dataclass(frozen=True, slots=True)
class Segment:
    """What the model writes between two decisions. ``ended`` is whether its text ends there."""

    tokens: tuple[Token, ...] = ()
    decision: Mapping[str, float] | None = None
    """The probabilities of the named tokens where the next segment begins, if it does."""
    ended: bool = False

    @property
    def raw(self) -> str:
        """The text with its reflection tokens."""
        return "".join(token.text for token in self.tokens)

    @property
    def text(self) -> str:
        """The text without reflection tokens, and without space at its end."""
        return without_tokens(self.raw).rstrip()

    def after(self, text: str) -> Sentence:
        """Return the segment as a sentence that follows a text, with a space between them."""
        mine = self.text
        space = bool(mine and text and not (mine[0].isspace() or text[-1].isspace()))
        written = _plain(self.tokens, start=int(space))
        return Sentence(f" {mine}" if space else mine, written, None, self.ended)


@dataclass(frozen=True, slots=True)
class _Part:
    """An accepted segment after its decision, with the passage that it was written from."""

    decision: str
    segment: Segment
    passage: RetrievedPassage | None = None

    @property
    def raw(self) -> str:
        evidence = paragraph(self.passage) if self.passage else ""
        return f"{self.decision}{evidence}{self.segment.raw}"

    def without_passage(self) -> "_Part":
        plain = Token(0, self.segment.text, 0, len(self.segment.text))
        return _Part(NO_RETRIEVAL, Segment((plain,)))


class Transcript:
    """The accepted segments with their passages.

    Passages that do not fit are dropped, the oldest first.
    """

    def __init__(self, state: AnswerState) -> None:
        self._state = state
        self._prompt = state.profile.render(with_tokens_apart(state.request.question))
        self._parts = list[_Part]()

    @property
    def evidence(self) -> tuple[RetrievedPassage, ...]:
        """The last passage that the text contains, alone; empty without one."""
        passages = [each.passage for each in self._parts if each.passage is not None]
        return tuple(passages[-1:])

    async def decision(self, stage: str) -> Mapping[str, float]:
        """Return the probabilities of the named tokens before the next segment.

        They are known if the model has begun that segment; otherwise they cost a call. Empty if
        the model ends its text.
        """
        known = self._parts[-1].segment.decision if self._parts else None
        if known is not None:
            return known
        begun = await self._write("", stage=stage, max_tokens=1, ends=frozenset())
        return probabilities_at(begun.tokens[0]) if begun.tokens else {}

    async def write(self, decision: str, *, stage: str) -> Segment:
        """Return the segment that follows a decision."""
        return await self._write(decision, stage=stage)

    async def write_from(self, passage: RetrievedPassage, *, stage: str) -> Segment | None:
        """Return the segment that follows a passage; None if the passage does not fit."""
        try:
            return await self._write(f"{RETRIEVAL}{paragraph(passage)}", stage=stage)
        except PromptTooLong:
            return None

    def append(
        self, decision: str, segment: Segment, passage: RetrievedPassage | None = None
    ) -> None:
        """Append an accepted segment."""
        self._parts.append(_Part(decision, segment, passage))

    async def conclude(self) -> Sentence:
        """Return the conclusion that the model is made to write."""
        phrase = self._state.profile.forcing_phrase
        decision = CONTINUE_EVIDENCE if self.evidence else NO_RETRIEVAL
        written = await self._write(
            decision + phrase, stage="concluding", max_tokens=CONCLUSION_MAX_TOKENS
        )
        text = without_tokens(phrase + written.raw)
        tokens = _plain(written.tokens, start=len(phrase))
        return Sentence(split_sentences(text)[0], tokens, None, last=True)

    async def _write(
        self,
        more: str,
        *,
        stage: str,
        max_tokens: int | None = None,
        ends: frozenset[str] = _ENDS,
    ) -> Segment:
        """Return what follows the text and ``more``; it costs a call."""
        while True:
            prefix = "".join(each.raw for each in self._parts) + more
            try:
                return await self._generate(prefix, stage, max_tokens, ends)
            except PromptTooLong:
                if not self._drop_oldest():
                    raise

    async def _generate(
        self, prefix: str, stage: str, max_tokens: int | None, ends: frozenset[str]
    ) -> Segment:
        state = self._state
        request = GenerateRequest(
            prompt=self._prompt,
            prefix=prefix,
            max_tokens=max_tokens or min(SENTENCE_MAX_TOKENS, state.budget.remaining_tokens),
            stop=state.profile.stop,
            named_tokens=JUDGEMENTS,
        )
        stream, tokens = TokenStream(state.ports.generator, request, state.budget), list[Token]()
        try:
            while (token := await stream.read(stage)) is not None:
                if isinstance(token, GenerationProgress):
                    continue
                if token.text in ends:
                    begun = probabilities_at(token) if token.text in DECISIONS else None
                    return Segment(tuple(tokens), begun)
                tokens.append(token)
        finally:
            await stream.aclose()
        return Segment(tuple(tokens), ended=stream.finish_reason is not FinishReason.LENGTH)

    def _drop_oldest(self) -> bool:
        """Drop the oldest passage, and the judgements of its segment; return whether one was."""
        for at, each in enumerate(self._parts):
            if each.passage is not None:
                self._parts[at] = each.without_passage()
                return True
        return False


def _plain(tokens: Sequence[Token], *, start: int) -> tuple[Token, ...]:
    """Return the tokens without reflection tokens, with spans in the text without these."""
    found = list[Token]()
    for each in tokens:
        if each.text not in REFLECTION_TOKENS:
            found.append(replace(each, start=start, end=start + len(each.text)))
            start += len(each.text)
    return tuple(found)
