"""Value spans of a sentence: its names, dates and numbers, each a run of whole words.

A word with a digit is a value word, as is a capitalised one. The first word of a sentence is
capitalised whatever it is, so it needs a capitalised next word or, where the tags of the words are
known, the tag of a proper noun. Particles within a name ("of the", "van") belong to it.
Punctuation, a possessive ending or an opening quotation mark separates spans, except the comma of a
date ("May 12, 1990"). Scripts without capitals have spans of numbers only.
"""

from collections.abc import Sequence

_PARTICLES = frozenset("of the de del della der den des di da do dos du la le van von y".split())
_MAX_PARTICLES = 2
_PROPER = ("NNP", "NNPS", "CD")
_POSSESSIVES = ("'s", "’s", "s'", "s’")
_OPENING = "\"'“‘«([{"
_CLOSING = '"”’»)]},;:!?'
_MARKS = "\"'“”‘’«»()[]{}<>,;:!?…*_-–—."


def value_spans(
    words: Sequence[str], tags: Sequence[str] | None = None
) -> tuple[tuple[int, int], ...]:
    """Return the value spans of a sentence as half-open ranges of word positions, in order.

    ``tags`` are the words' part-of-speech tags of the Penn Treebank.
    """
    spans = list[tuple[int, int]]()
    values = [_is_value(words, at, tags) for at in range(len(words))]
    for at in (at for at, value in enumerate(values) if value):
        start, end = spans[-1] if spans else (0, 0)
        if spans and _joins(words, end, at):
            spans[-1] = (start, at + 1)
        else:
            spans.append((at, at + 1))
    return tuple(spans)


def _is_value(words: Sequence[str], at: int, tags: Sequence[str] | None) -> bool:
    word = words[at].strip(_MARKS)
    if any(character.isdigit() for character in word):
        return True
    if tags is not None and tags[at] in _PROPER and (tags[at] == "CD" or word[:1].isupper()):
        return True
    if not word[:1].isupper() or (tags is not None and tags[at].startswith("PRP")):
        return False
    if at > 0:
        return True
    following = words[1].lstrip(_OPENING) if len(words) > 1 else ""
    return following[:1].isupper() and not _ends_span(words[0])


def _joins(words: Sequence[str], end: int, at: int) -> bool:
    """Return whether the value word at ``at`` continues the span that ends before ``end``."""
    between = words[end:at]
    if len(between) > _MAX_PARTICLES or not _PARTICLES.issuperset(between):
        return False
    if words[at][:1] in _OPENING:
        return False
    last = words[end - 1]
    if between and last[-1:].isdigit():
        return False
    if not between and last.endswith(",") and last[-2:-1].isdigit() and words[at][:1].isdigit():
        return True
    return not _ends_span(last)


def _ends_span(word: str) -> bool:
    return word[-1] in _CLOSING or word.endswith(_POSSESSIVES)
