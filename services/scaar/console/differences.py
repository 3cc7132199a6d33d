"""Two texts side by side, and the words that they share with passages and queries."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from scaar.console.passage_names import name_of
from scaar.core.text.words import bare_word, split_words
from scaar.core.types import RetrievedPassage

_SHORT = 3
_PIECES = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: ``changed`` if the other text does not have it, ``source`` a passage."""

    text: str
    changed: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """The pieces of a text and of its replacement."""

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]


def difference(before: str, after: str, passages: Sequence[RetrievedPassage]) -> Difference:
    """Return two texts as words, with those that differ marked.

    New words that a passage has carry its name.
    """
    old, new = (_PIECES.findall(text.strip()) for text in (before, after))
    sources = _sources(passages)
    parts: tuple[list[Piece], list[Piece]] = ([], [])
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        changed = kind != "equal"
        parts[0].extend(Piece(each, changed and not each.isspace()) for each in old[a:b])
        parts[1].extend(
            Piece(
                each,
                changed and not each.isspace(),
                sources.get(bare_word(each), "") if changed else "",
            )
            for each in new[c:d]
        )
    return Difference(tuple(parts[0]), tuple(parts[1]))


def marked(text: str, wanted: Collection[str]) -> tuple[Piece, ...]:
    """Return a text as pieces, with the words marked that are wanted, in their bare form."""
    return tuple(
        Piece(each, not each.isspace() and bare_word(each) in wanted)
        for each in _PIECES.findall(text)
    )


def words_to_mark(text: str) -> frozenset[str]:
    """Return the bare words of a query that are worth a mark: not the shortest ones."""
    found = {bare_word(word.text) for word in split_words(text)}
    return frozenset(each for each in found if len(each) > _SHORT and any(map(str.isalnum, each)))


def _sources(passages: Sequence[RetrievedPassage]) -> Mapping[str, str]:
    """Return the name of the best passage that has each word."""
    found: dict[str, str] = {}
    for passage in passages:
        for word in split_words(f"{passage.title} {passage.text}"):
            found.setdefault(bare_word(word.text), name_of(passage))
    return found
