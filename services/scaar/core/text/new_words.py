"""Which words of an answer no passage has: the project's own check of an answer by what was read.

A word is *new* if the question does not have it. A new word is unsupported if no passage read has
it. Two words are the same without regard to case, punctuation and possessive ending, or if they
begin alike and have most letters in the same order ("lists", "list"; "metres", "meters"); a number
and the letters beside it are two ("4GiB"). Marks of citations ("[1]"), the English words by which
an answer refers to its passages, stop words of English, and words of up to three letters, which
are the stop words of many languages, are not counted; nor are words in scripts that need a
dictionary to find them, such as Thai. Where words are single ideographs, the check is weak.

A *value word* is what an answer often invents: it has a digit, is code between back-ticks, or is a
capitalised word within a sentence, if the passages are in English. (German capitalises all nouns.)

Passages that have hardly a word of the question are taken to be in another language than question
and answer. Numbers and code are then the only words that count.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from scaar.core.text.english import STOP_WORDS, other_language
from scaar.core.text.scripts import DICTIONARY, HIRAGANA
from scaar.core.text.words import bare_word, cased_word, split_words
from scaar.core.types import Word

_MIN_LETTERS = 4
"""Of a word that counts, in an alphabet with capital letters."""
_MAX_LETTERS = 60
"""Of words that are compared letter by letter, which takes the product of their lengths."""
_START_LETTERS = 3
_MIN_RATIO = 0.75
"""Share of the letters of two words that are equal and in the same order."""
_MAX_FOREIGN = 0.25
"""Share of the question's words that passages in another language have, such as names."""
_WITHOUT_WORDS = re.compile(f"[{HIRAGANA}{DICTIONARY}]")
_MARK = re.compile(r"\[\d{1,3}\]")
_CODE = re.compile(r"`[^`\n]+`")
_PART = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d]+")
_OF_REFERENCE = frozenset(
    "according answer answers based context document documents following given information "
    "mentioned passage passages provided question stated text".split()
)
_IGNORED = STOP_WORDS | _OF_REFERENCE
_SENTENCE_ENDS = ".:;!?\n"


@dataclass(frozen=True, slots=True)
class NewWord:
    """A word of an answer that the question does not have; ``at`` is its position."""

    at: int
    is_value: bool
    supported: bool


def new_words(
    words: Sequence[Word], text: str, question: str, passages: Iterable[str]
) -> tuple[NewWord, ...]:
    """Return the new words of an answer's text, in order, and whether a passage has each.

    ``words`` are those of the text, with their spans in it.
    """
    texts = tuple(passages)
    known = _Vocabulary(_parts(question))
    read = _Vocabulary(part for text in texts for part in _parts(text))
    translated = bool(texts) and _is_foreign(question, read)
    has_names = not translated and not other_language("\n".join(texts))
    marks = [found.span() for found in _MARK.finditer(text)]
    code = [found.span() for found in _CODE.finditer(text)]
    new = list[NewWord]()
    for at, word in enumerate(words):
        parts = [part for part in _parts(word.text) if part not in _IGNORED and not known.has(part)]
        if not parts or any(_overlaps(word, span) for span in marks):
            continue
        is_value = any(part[0].isdigit() for part in parts)
        is_value = is_value or any(_overlaps(word, span) for span in code)
        is_value = is_value or (has_names and _is_name(words, at))
        if is_value or (not translated and any(map(_counts, parts))):
            new.append(NewWord(at, is_value, all(map(read.has, parts))))
    return tuple(new)


def _is_foreign(question: str, read: "_Vocabulary") -> bool:
    """Return whether passages seem to be in another language than the question."""
    parts = [part for part in _parts(question) if part not in _IGNORED and _counts(part)]
    return bool(parts) and sum(map(read.has, parts)) <= _MAX_FOREIGN * len(parts)


def _counts(part: str) -> bool:
    """Return whether a part of a word may carry content, by its script and length."""
    if part[0].isdigit() or _WITHOUT_WORDS.search(part):
        return False
    return len(part) >= _MIN_LETTERS or part.upper() == part.lower()


class _Vocabulary:
    """The parts of words of a text, which a part of a word is looked up in."""

    def __init__(self, parts: Iterable[str]) -> None:
        self._parts = frozenset(parts)
        self._by_start = defaultdict[str, list[str]](list)
        for part in self._parts:
            if len(part) <= _MAX_LETTERS:
                self._by_start[part[:_START_LETTERS]].append(part)

    def has(self, part: str) -> bool:
        if part in self._parts:
            return True
        if not _MIN_LETTERS <= len(part) <= _MAX_LETTERS or part[0].isdigit():
            return False
        return any(_same(part, other) for other in self._by_start[part[:_START_LETTERS]])


def _same(part: str, other: str) -> bool:
    return SequenceMatcher(None, part, other, autojunk=False).ratio() >= _MIN_RATIO


def _parts(text: str) -> Iterator[str]:
    for word in split_words(text):
        yield from _PART.findall(bare_word(word.text))


def _is_name(words: Sequence[Word], at: int) -> bool:
    """Return whether a word is capitalised within a sentence."""
    before = words[at - 1].text.rstrip("\"'”’»)]*") if at else ""
    return (
        bool(before) and before[-1] not in _SENTENCE_ENDS and cased_word(words[at].text).istitle()
    )


def _overlaps(word: Word, span: tuple[int, int]) -> bool:
    return word.start < span[1] and span[0] < word.end
