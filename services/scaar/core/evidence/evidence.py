"""The evidence by which a draft is judged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.errors import ScaarError
from scaar.core.evidence.sentence_counts import SentenceCounts
from scaar.core.loop.attention import paid, received, received_by_tokens
from scaar.core.loop.contribution import clamped
from scaar.core.text.new_words import NewWord
from scaar.core.text.word_classes import WordClass
from scaar.core.text.words import surprisals, tokens_of, word_probabilities
from scaar.core.types import Attention, Token, Word


@dataclass(frozen=True, slots=True)
class DraftContext:
    """The draft of a sentence in its answer: the question, its text and its number, from 0.

    ``passages_read`` is whether the text before the draft or its prompt is from passages.
    """

    question: str
    text: str
    sentence: int = 0
    passages_read: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """The words of a draft, or its tokens as words, with the output of the engines.

    The fields after the tokens are named by their :class:`~scaar.core.types.EvidenceKind`, and None
    if neither trigger nor query needs them. ``contributions`` and ``word_classes`` have one value
    per word; ``contributions`` are empty if the scorer cannot read the draft. ``attention`` has a
    row for each token of the draft, and of the text after it if the attention spans that too.
    ``own_attention`` is what tokens receive; their spans count from the
    start of the draft. ``context`` is set for the drafts of an answer.
    """

    words: tuple[Word, ...]
    tokens: tuple[Token, ...]
    contributions: tuple[float, ...] | None = None
    attention: Attention | None = None
    word_classes: tuple[WordClass, ...] | None = None
    own_attention: Attention | None = None
    corpus_counts: SentenceCounts | None = None
    support: tuple[NewWord, ...] | None = None
    context: DraftContext | None = None

    @property
    def probabilities(self) -> tuple[float | None, ...]:
        """P' of every word (SCAAR Eq. 5)."""
        return word_probabilities(self.words, self.tokens)

    @property
    def unscored(self) -> bool:
        """Whether the scorer cannot read the draft, so that it has no contributions."""
        return self.contributions == ()

    @property
    def known_contributions(self) -> tuple[float, ...]:
        """The contribution r of every word, in [0, 1]; 0 for each if the draft is unscored.

        Raises:
            ScaarError: contributions are missing, too few, too many or not numbers.
        """
        if self.contributions is None:
            raise ScaarError("this trigger needs the contribution of every word")
        if self.unscored:
            return (0.0,) * len(self.words)
        if len(self.contributions) != len(self.words):
            counts = f"{len(self.contributions)} contributions were scored"
            raise ScaarError(f"{counts} for {len(self.words)} words")
        return clamped(self.contributions)

    @property
    def carried_contributions(self) -> tuple[float | None, ...]:
        """The contribution of every word for queries and events; None for words without a score."""
        return self.known_contributions if self.contributions else (None,) * len(self.words)

    @property
    def known_counts(self) -> SentenceCounts:
        """The counts of the sentence's entities.

        Raises:
            ScaarError: the counts are missing.
        """
        if self.corpus_counts is None:
            raise ScaarError("this trigger needs corpus counts")
        return self.corpus_counts

    @property
    def known_support(self) -> tuple[NewWord, ...]:
        """The words that the question does not have, and whether a passage read has them.

        Raises:
            ScaarError: they are missing.
        """
        if self.support is None:
            raise ScaarError("this trigger needs the passages in the prompt")
        return self.support

    @property
    def known_classes(self) -> tuple[WordClass, ...]:
        """The class of every word in the sentence."""
        if self.word_classes is None:
            raise ScaarError("this trigger needs the class of every word")
        return self.word_classes

    @property
    def surprisals(self) -> tuple[float, ...] | None:
        """-ln p of every token of the draft, in nats; None where one is missing."""
        return surprisals(self.tokens)

    @property
    def margins(self) -> tuple[float | None, ...]:
        """The :func:`margin` at every token of the draft."""
        return tuple(map(margin, self.tokens))

    @property
    def weighted_surprisal(self) -> float | None:
        """The mean surprisal of the tokens, in nats, weighted by the contribution of their word.

        A token over two words counts in both. If no word contributes, all tokens count alike. None
        where a log-probability is missing.
        """
        surprisals = self.surprisals
        if not surprisals:
            return None
        total = weights = 0.0
        positions = tokens_of(self.words, self.tokens)
        for r, of_word in zip(self.known_contributions, positions, strict=True):
            total += r * math.fsum(surprisals[at] for at in of_word)
            weights += r * len(of_word)
        return total / weights if weights > 0.0 else math.fsum(surprisals) / len(surprisals)

    @property
    def mean_entropy(self) -> float | None:
        """The mean entropy of all the draft's tokens, in nats; None where one is missing."""
        known = _known([token.entropy for token in self.tokens])
        return math.fsum(known) / len(known) if known else None

    @property
    def mean_entropies(self) -> tuple[float | None, ...]:
        """The mean entropy of every word's tokens, in nats; None where one is missing."""
        return tuple(
            math.fsum(known) / len(known) if known else None for known in self._entropies()
        )

    @property
    def largest_entropies(self) -> tuple[float | None, ...]:
        """The largest entropy of every word's tokens, in nats; None where one is missing."""
        return tuple(max(known, default=None) for known in self._entropies())

    def attention_received(self) -> tuple[float, ...]:
        """Return the attention that every word receives, scaled to mean 1 (DRAGIN Eq. 3).

        Raises:
            ScaarError: the attention is missing.
        """
        return received(self.words, _known_attention(self.attention))

    def own_attention_received(self) -> tuple[float, ...]:
        """Return the attention that every word receives in the draft alone, scaled to mean 1.

        Raises:
            ScaarError: the attention is missing.
        """
        return received_by_tokens(self.words, _known_attention(self.own_attention))

    def attention_paid(self) -> tuple[float, ...]:
        """Return the largest attention that every word pays to one word, scaled to mean 1.

        Raises:
            ScaarError: the attention is missing.
        """
        return paid(self.words, _known_attention(self.attention))

    def _entropies(self) -> list[list[float]]:
        """Return the entropies of every word's tokens; empty where one is missing."""
        return [
            _known([self.tokens[position].entropy for position in positions])
            for positions in tokens_of(self.words, self.tokens)
        ]


def _known_attention(attention: Attention | None) -> Attention:
    if attention is None:
        raise ScaarError("this trigger needs the attention of the draft")
    return attention


def margin(token: Token) -> float | None:
    """Return ln p(1) - ln p(2) of the two most probable tokens at a token.

    Infinite if the second has no probability, None if fewer than two are known.
    """
    logprobs = sorted((each.logprob for each in token.top), reverse=True)
    if len(logprobs) < 2 or not math.isfinite(logprobs[0]):
        return None
    return logprobs[0] - logprobs[1]


def _known(values: Sequence[float | None]) -> list[float]:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return known if len(known) == len(values) else []
