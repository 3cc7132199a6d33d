"""Entities of questions and sentences, and what a sentence states of them.

Entities are value spans (:mod:`scaar.core.text.spans`). A first word that is no proper noun, such
as "In" or "Who", is not capitalised as a part of a name. A sentence states of its first entity, the
*head*, what relates it to its other entities, the *tails*; a repeated head is no tail. If its only
entity is not in the question, the sentence continues about an entity of the question ("She was born
in Paris."): then the entity is a tail, and the heads are the question's entities.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.text.spans import value_spans
from scaar.core.text.word_classes import tags_of
from scaar.core.text.words import bare_word, split_words

WINDOW = 1_000
"""Maximum distance of two entities that occur together, in words (QuCo-RAG: 1,000 tokens)."""
Span = tuple[int, int]
_PROPER = ("NNP", "NNPS", "CD")


@dataclass(frozen=True, slots=True)
class Statement:
    """The entities of a sentence, as half-open ranges of its words.

    ``head`` and ``tails`` are ranges in the sentence. Without a ``head``, the sentence is about one
    of the question's entities, ``heads``, or has no entity.
    """

    words: tuple[str, ...]
    head: Span | None
    tails: tuple[Span, ...] = ()
    heads: tuple[str, ...] = ()

    @property
    def entities(self) -> tuple[Span, ...]:
        """The ranges of all entities of the sentence, in order."""
        return self.tails if self.head is None else (self.head, *self.tails)

    def text(self, span: Span) -> str:
        """Return the text of an entity."""
        return entity_text(self.words, span)


def statement_of(question: str, words: Sequence[str]) -> Statement:
    """Return what a sentence of the answer to a question states. The first call blocks."""
    spans = entity_spans(words)
    if not spans:
        return Statement(tuple(words), None)
    first, *others = spans
    head = _key(entity_text(words, first))
    tails = tuple(span for span in others if _key(entity_text(words, span)) != head)
    known = question_entities(question)
    if others or not known or head in map(_key, known):
        return Statement(tuple(words), first, tails)
    return Statement(tuple(words), None, (first,), known)


def question_entities(question: str) -> tuple[str, ...]:
    """Return the distinct entities of a question, in order. The first call blocks."""
    words = [word.text for word in split_words(question)]
    found = (entity_text(words, span) for span in entity_spans(words))
    return tuple({_key(each): each for each in found if _key(each)}.values())


def entity_spans(words: Sequence[str]) -> tuple[Span, ...]:
    """Return the entities of a sentence as half-open ranges of words, in order.

    The first call blocks (:func:`~scaar.core.text.word_classes.load`).
    """
    if not words:
        return ()
    tags = tags_of(words)
    first = words[0] if tags[0] in _PROPER else words[0].lower()
    return value_spans((first, *words[1:]), tags)


def entity_text(words: Sequence[str], span: Span) -> str:
    """Return the words of an entity, without possessive ending and punctuation around it."""
    start, end = span
    return " ".join((*words[start : end - 1], _without_possessive(words[end - 1]))).strip(_MARKS)


_MARKS = "\"'“”‘’«»()[]{}<>,;:!?…*_-–—. "
_POSSESSIVES = ("'s", "’s", "s'", "s’")


def _without_possessive(word: str) -> str:
    bare = word.rstrip(_MARKS.replace("'", "").replace("’", ""))
    for ending in _POSSESSIVES:
        if bare.endswith(ending):
            return bare[:-2] if ending[0] in "'’" else bare[:-1]
    return word


def _key(entity: str) -> str:
    """Return the entity for comparisons, without case and punctuation."""
    return " ".join(map(bare_word, entity.split()))
