"""Features of the sentences of retrieved passages, given the question.

They compare words, positions and scores, and need no resource of a language. A word is one of
:func:`~scaar.core.text.words.split_words` in lower case without surrounding punctuation.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from scaar.core.prompts.untrusted import MAX_PASSAGE_CHARACTERS, cut, one_line
from scaar.core.text.sentences import split_sentences
from scaar.core.text.words import bare_word, split_words
from scaar.core.types import RetrievedPassage


@dataclass(frozen=True, slots=True)
class SentenceFeatures:
    """The features of a sentence.

    The weight of a word is ln((n + 1) / (m + 0.5)), if m of the n retrieved sentences have it.
    """

    overlap: float
    """Share of the question's words that the sentence has."""
    weighted_overlap: float
    """The same share of the weights of these words."""
    relative_overlap: float
    """``weighted_overlap`` divided by the largest of all retrieved sentences."""
    precision: float
    """Share of the sentence's words that are in the question."""
    title_overlap: float
    """Share of the words of the passage's title that are in the question."""
    length: float
    """ln(1 + number of words)."""
    position: float
    """Position of the sentence in its passage: 0 for the first, 1 for the last."""
    rank: float
    """1 / rank of the passage."""
    score: float
    """Score of the passage, from 0 for the lowest of the retrieved passages to 1 for the highest;
    1 if all are equal."""
    numbers: float
    """1 if a word that the question does not have has a digit, else 0."""
    names: float
    """Share of the sentence's words that are capitalised, not its first and not in the question."""

    @property
    def values(self) -> tuple[float, ...]:
        """The features in the order of :data:`FEATURES`."""
        return astuple(self)


FEATURES = tuple(each.name for each in fields(SentenceFeatures))


def sentences_of(passage: RetrievedPassage) -> tuple[str, ...]:
    """Return the sentences of a passage, each one line, as far as they fit into a prompt."""
    text = cut(one_line(passage.text), MAX_PASSAGE_CHARACTERS)
    return tuple(each for found in split_sentences(text) if (each := found.strip()))


def features_of(
    question: str, passages: Sequence[RetrievedPassage]
) -> tuple[tuple[SentenceFeatures, ...], ...]:
    """Return the features of every sentence of every passage."""
    asked = frozenset(_words(question))
    texts = [sentences_of(each) for each in passages]
    words = [[_words(sentence) for sentence in each] for each in texts]
    having = Counter(word for each in words for found in each for word in frozenset(found))
    count = sum(map(len, words))
    weights = {word: math.log((count + 1) / (having[word] + 0.5)) for word in asked}
    shared = [[asked.intersection(found) for found in each] for each in words]
    overlaps = [
        [_share(_sum(weights, found), _sum(weights, asked)) for found in each] for each in shared
    ]
    largest = max((each for row in overlaps for each in row), default=0.0)
    lowest, highest = _range([each.score for each in passages])
    return tuple(
        tuple(
            SentenceFeatures(
                overlap=_share(len(shared[row][at]), len(asked)),
                weighted_overlap=overlaps[row][at],
                relative_overlap=_share(overlaps[row][at], largest),
                precision=_share(sum(word in asked for word in found), len(found)),
                title_overlap=_overlap(_words(passage.title), asked),
                length=math.log1p(len(found)),
                position=_share(at, len(words[row]) - 1),
                rank=1 / passage.rank,
                score=_share(passage.score - lowest, highest - lowest) if highest > lowest else 1.0,
                numbers=float(any(_has_digit(word) and word not in asked for word in found)),
                names=_share(_names(texts[row][at], asked), len(found)),
            )
            for at, found in enumerate(words[row])
        )
        for row, passage in enumerate(passages)
    )


def _words(text: str) -> list[str]:
    found = (bare_word(word.text) for word in split_words(text))
    return [word for word in found if any(map(str.isalnum, word))]


def _names(sentence: str, asked: frozenset[str]) -> int:
    later = split_words(sentence)[1:]
    return sum(_is_capitalised(each.text) and bare_word(each.text) not in asked for each in later)


def _is_capitalised(word: str) -> bool:
    return next(filter(str.isalnum, word), "").isupper()


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _overlap(words: Sequence[str], asked: frozenset[str]) -> float:
    distinct = frozenset(words)
    return _share(len(distinct & asked), len(distinct))


def _sum(weights: dict[str, float], words: frozenset[str]) -> float:
    return math.fsum(weights[word] for word in words)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _range(scores: Sequence[float]) -> tuple[float, float]:
    return (min(scores), max(scores)) if scores else (0.0, 0.0)
