"""The passages that state what a sentence says.

The rule compares terms: words, numbers and options. It needs no model, and knows no words of a
language. What a sentence says is its terms that the question does not have. A passage supports the
sentence if two successive sentences of it, or as many as are as long as the sentence,

- have every new identifier of the sentence as a whole word: numbers, options, paths, names such as
  ``git-gc`` and words in backquotes;
- have half of what is new, where an identifier counts twice;
- have 40 % of the words of the question, with the title of the passage, so that they are about what
  was asked. A sentence that says at least three new things needs none of them if the passage has
  80 % of these.

If the sentence cites passages by their number in the prompt, as in "[2]", and one of these supports
it, the others are left out. A sentence that says nothing new, asks or announces a list has no
support. Two words are the same if they begin with the same five letters.

The rule cannot tell a wrong relation or unit of the right words: a passage also supports "the
second screen has port 5900" if it says that the first one has. ``record.documents.support``
measures the rule on labelled sentences.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from scaar.core.text.scripts import HAN, HIRAGANA, SPACELESS
from scaar.core.text.sentences import split_sentences
from scaar.core.text.words import split_words
from scaar.core.types import RetrievedPassage

MAX_CHARACTERS = 2_000
"""Characters of a sentence and of a passage that are compared; prompts cut passages there too."""
MAX_PASSAGES = 20
"""Passages that are compared, the first ones of the prompt."""

NEW_SHARE = 0.5
QUESTION_SHARE = 0.4
VERBATIM_SHARE = 0.8
VERBATIM_TERMS = 3
IDENTIFIER_WEIGHT = 2
STEM_LETTERS = 5
SHORTEST_WORD = 4
"""Letters of a word that counts; shorter ones are mostly words of grammar."""

_SPACELESS = re.compile(f"[{SPACELESS}]")
_TERM = re.compile(
    rf"(?<![\w-])--?[a-z](?![a-z])|\d+(?:[.,]\d+)*|[{HAN}{HIRAGANA}]|[^\W\d_{HAN}{HIRAGANA}]+"
)
"""An option of one letter, a number, a character of Chinese or Japanese, or a run of letters."""
_THOUSANDS = re.compile(r"[.,](?=\d{3}(?!\d))")
_LIST_MARK = re.compile(r"^\s*(?:\(?\d+[.)]|[-*•#]+)\s+")
_CITATION_MARK = re.compile(r"\[(\d{1,3})\]")
_MANUAL_SECTION = re.compile(r"(?<=\w)\(\d\w?\)")
_NO_STATEMENT = (":", "：", "?", "？")
_CODE = re.compile(r"`([^`]+)`")
_ELISION = re.compile(r"[^\W\d_]+['’][^\W\d_]+")

_Terms = tuple[str, ...]


def supporting_passages(
    sentence: str, question: str, passages: Sequence[RetrievedPassage]
) -> tuple[str, ...]:
    """Return the ids of the passages that support a sentence of an answer, in their order.

    ``passages`` are those of the prompt, in the order of the prompt.
    """
    text = sentence[:MAX_CHARACTERS]
    statement = _statement_of(text, question[:MAX_CHARACTERS])
    if statement is None:
        return ()
    supporting = {
        number: passage.id
        for number, passage in enumerate(passages[:MAX_PASSAGES], 1)
        if statement.is_supported_by(passage)
    }
    marked = {int(number) for number in _CITATION_MARK.findall(text)} & supporting.keys()
    return tuple(supporting[number] for number in sorted(marked or supporting))


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a sentence says that the question does not say, and the words of the question."""

    identifiers: tuple[_Terms, ...]
    words: frozenset[str]
    question: frozenset[str]
    length: int
    """Terms of the sentence."""

    def is_supported_by(self, passage: RetrievedPassage) -> bool:
        text = _Text.of(passage.text)
        if not self._is_stated_in(text):
            return False  # most passages, without a look at their parts
        title = _Text.of(passage.title).stems
        return any(
            self._is_stated_in(part)
            and (self._is_verbatim_in(part) or self._is_asked_in(title | part.stems))
            for part in _parts(passage.text, self.length)
        )

    def _is_stated_in(self, part: "_Text") -> bool:
        return self._share(part) >= NEW_SHARE and all(map(part.has, self.identifiers))

    def _is_verbatim_in(self, part: "_Text") -> bool:
        says_enough = len(self.words) + len(self.identifiers) >= VERBATIM_TERMS
        return says_enough and self._share(part) >= VERBATIM_SHARE

    def _is_asked_in(self, stems: frozenset[str]) -> bool:
        return len(self.question & stems) >= QUESTION_SHARE * len(self.question)

    def _share(self, part: "_Text") -> float:
        """Return the share of what is new that a part has, if it has the identifiers."""
        identifiers = IDENTIFIER_WEIGHT * len(self.identifiers)
        common = len(self.words & part.stems) + identifiers
        return common / (len(self.words) + identifiers)


def _statement_of(sentence: str, question: str) -> _Statement | None:
    """Return what a sentence says; None if it says nothing new."""
    text = _CITATION_MARK.sub(" ", _LIST_MARK.sub("", sentence))
    if text.rstrip().endswith(_NO_STATEMENT):
        return None
    terms, asked = _terms(text), _terms(question)
    identifiers = tuple(
        identifier
        for identifier in dict.fromkeys(_identifiers(text))
        if not _occurs(identifier, asked)
    )
    known = {_stem(term) for term in chain(asked, *identifiers)}
    words = _content(terms) - known
    if not identifiers and not words:
        return None
    return _Statement(identifiers, words, _content(asked), len(terms))


def _identifiers(text: str) -> Iterator[_Terms]:
    """Yield the numbers, options and names of a text that a passage must have unchanged."""
    code = [match.span(1) for match in _CODE.finditer(text)]
    for word in split_words(text):
        terms = _terms(word.text)
        if not terms:
            continue
        is_compound = len(terms) > 1 and max(map(len, terms)) > 1 and not _ELISION.search(word.text)
        is_number_or_option = terms[0][0].isdigit() or terms[0][0] == "-"
        is_code = any(word.start < end and start < word.end for start, end in code)
        if is_compound or is_number_or_option or is_code:
            yield terms


def _parts(text: str, length: int) -> Iterator["_Text"]:
    """Yield every two successive sentences, with the next ones up to a length in terms."""
    sentences = [_Text.of(sentence) for sentence in split_sentences(text[:MAX_CHARACTERS])]
    for start in range(max(1, len(sentences) - 1)):
        end, terms = start, 0
        while end < len(sentences) and (end < start + 2 or terms < length):
            terms += sentences[end].length
            end += 1
        yield _Text.joined(sentences[start:end])


@dataclass(frozen=True, slots=True)
class _Text:
    """The words of a text, each as its terms, and the stems of all terms."""

    words: tuple[_Terms, ...]
    stems: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Text":
        words = tuple(
            filter(None, (_terms(word.text) for word in split_words(_without_sections(text))))
        )
        return cls(words, frozenset(map(_stem, chain(*words))))

    @classmethod
    def joined(cls, texts: Sequence["_Text"]) -> "_Text":
        words = tuple(chain.from_iterable(text.words for text in texts))
        return cls(words, frozenset[str]().union(*(text.stems for text in texts)))

    @property
    def length(self) -> int:
        return sum(map(len, self.words))

    def has(self, identifier: _Terms) -> bool:
        """Return whether an identifier is here as whole words; a number also with its unit."""
        terms = tuple(chain(*self.words))
        if len(identifier) == 1 and identifier[0][0].isdigit():
            return identifier[0] in terms
        starts, at = set[int](), 0
        for word in self.words:
            starts.add(at)
            at += len(word)
        ends = starts - {0} | {at}
        return any(
            start in starts and end in ends and terms[start:end] == identifier
            for start, end in _spans(terms, identifier)
        )


def _without_sections(text: str) -> str:
    """Return a text with ``git-gc`` in place of ``git-gc(1)``."""
    return _MANUAL_SECTION.sub("", text[:MAX_CHARACTERS])


def _terms(text: str) -> _Terms:
    terms = _TERM.findall(text.casefold())
    return tuple(_THOUSANDS.sub("", term) if term[0].isdigit() else term for term in terms)


def _content(terms: Iterable[str]) -> frozenset[str]:
    """Return the stems of the terms that are more than words of grammar."""
    return frozenset(
        _stem(term)
        for term in terms
        if len(term) >= SHORTEST_WORD or not term.isalpha() or _SPACELESS.match(term)
    )


def _stem(term: str) -> str:
    if len(term) <= STEM_LETTERS or not term.isalpha() or _SPACELESS.match(term):
        return term
    return term[:STEM_LETTERS]


def _occurs(identifier: _Terms, terms: _Terms) -> bool:
    return any(terms[start:end] == identifier for start, end in _spans(terms, identifier))


def _spans(terms: _Terms, identifier: _Terms) -> Iterator[tuple[int, int]]:
    """Yield the spans of terms that begin as an identifier and are as long."""
    for start, term in enumerate(terms):
        if term == identifier[0]:
            yield start, start + len(identifier)
