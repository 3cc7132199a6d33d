"""Providers of evidence: what they gather from, and what they need."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scaar.core.evidence.evidence import DraftContext
from scaar.core.loop.attention import sound
from scaar.core.loop.budget import Budget, Part
from scaar.core.loop.token_stream import DraftedText
from scaar.core.loop.writer import Sentence, Writing
from scaar.core.ports import ContributionScorer, CorpusCounts, Generator
from scaar.core.text.words import split_tokens, split_words
from scaar.core.types import (
    AttendRequest,
    Attention,
    Capability,
    Granularity,
    RetrievedPassage,
    ScoreRequest,
    Word,
)


@dataclass(frozen=True)
class Draft:
    """The draft of a sentence with at least one word, and the text before it."""

    question: str
    prompt: str
    so_far: Writing
    sentence: Sentence
    granularity: Granularity = Granularity.WORD
    index: int = 0
    """Number of the sentence in the answer, from 0."""
    passages_read: bool = False
    passages: Sequence[RetrievedPassage] = ()
    """The passages in the prompt."""
    message: str = ""
    """The whole message of the user, of which ``question`` is what it asks; empty if it is all."""

    @property
    def whole(self) -> DraftedText:
        """The text over which attention is taken: the whole draft, or the sentence alone."""
        sentence = self.sentence
        return sentence.draft or DraftedText(sentence.text, sentence.token_ids or ())

    @property
    def context(self) -> DraftContext:
        return DraftContext(self.question, self.sentence.text, self.index, self.passages_read)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return split_words(self.sentence.text)

    @cached_property
    def units(self) -> tuple[Word, ...]:
        """The words or the tokens that are judged."""
        if self.granularity is Granularity.TOKEN:
            return split_tokens(self.sentence.text, self.sentence.tokens)
        return self.words

    @cached_property
    def words_of_units(self) -> tuple[int, ...]:
        """The position of the word in which each unit starts."""
        return words_containing(self.units, self.words)


@dataclass(frozen=True, slots=True)
class Sources:
    """The engines that provide evidence, within the budget of an answer."""

    generator: Generator
    scorer: ContributionScorer
    budget: Budget
    stage: str
    """What the answer is doing, for errors of its time limit."""
    corpus_counts: CorpusCounts | None = None
    """The counts of a corpus; None without any."""

    async def attend(self, request: AttendRequest) -> Attention:
        """Return the validated attention of a text."""
        async with self.budget.within(self.stage, Part.GENERATION):
            return sound(await self.generator.attend(request), request.attention)

    async def score(self, requests: Sequence[ScoreRequest]) -> tuple[tuple[float, ...], ...]:
        """Return the contribution of every word of every request."""
        async with self.budget.within(self.stage, Part.SCORING):
            return await self.scorer.score_contributions(requests)


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider of one kind of evidence.

    ``gather`` returns the value of the field of :class:`~scaar.core.evidence.evidence.Evidence`
    that has the name of the kind; None if the tokens of the draft carry the evidence. ``needs``
    are the capabilities that a generator must have.
    """

    gather: Callable[[Draft, Sources], Coroutine[Any, Any, Any]] | None = None
    needs: frozenset[Capability] = frozenset()


def words_containing(units: Sequence[Word], words: Sequence[Word]) -> tuple[int, ...]:
    """Return the position of the word in which each unit starts."""
    found, at = [], 0
    for unit in units:
        while at + 1 < len(words) and words[at].end <= unit.start:
            at += 1
        found.append(at)
    return tuple(found)
