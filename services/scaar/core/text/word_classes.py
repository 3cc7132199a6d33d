"""Stop words and content words, by the part of speech that each has in its sentence.

Tags are those of the Penn Treebank, assigned by TextBlob's tagger, whose lexicon and rules are part
of the package. A stop word belongs to a closed class (articles, prepositions, pronouns,
conjunctions, auxiliaries, particles) or has no letter and no digit. A content word is a noun, an
adjective, a verb, a proper noun or a number, as in DRAGIN's code. A word of digits is a number,
although the lexicon has "2" and "4" as prepositions. Adverbs and interjections are
neither.
"""

import enum
import threading
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Protocol


class WordClass(enum.StrEnum):
    """Class of a word in its sentence."""

    CONTENT = "content"
    STOP = "stop"
    OTHER = "other"


class _Tagger(Protocol):
    def tag(self, text: str, tokenize: bool) -> list[tuple[str, str]]: ...


_LOADING = threading.Lock()
_CONTENT = ("NN", "JJ", "VB", "CD")
_OTHER = ("RB", "UH", "FW")
_AUXILIARIES = frozenset(
    "am are be been being is was were do does did doing has have had having not n't cannot".split()
)
_POSSESSIVES = ("'s", "’s", "'", "’")


def word_classes(words: Sequence[str]) -> tuple[WordClass, ...]:
    """Return the class of every word of a sentence. The first call blocks (:func:`load`)."""
    return tuple(_class_of(core, tag) if core else WordClass.STOP for core, tag in _tagged(words))


def tags_of(words: Sequence[str]) -> tuple[str, ...]:
    """Return the tag of every word of a sentence. The first call blocks (:func:`load`)."""
    return tuple(tag for _, tag in _tagged(words))


def load() -> None:
    """Load the lexicon, which takes half a second, before the first call needs it."""
    _tagger()


def _tagged(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return every word without its punctuation, and its tag."""
    cores = [_core(word, last=at == len(words)) for at, word in enumerate(words, 1)]
    tagged = _tagger().tag(" ".join(core or "." for core in cores), tokenize=False)
    if len(tagged) != len(cores):  # no word contains a space, so that none is split
        tagged = [_tagger().tag(core or ".", tokenize=False)[0] for core in cores]
    return [(core, tag) for core, (_, tag) in zip(cores, tagged, strict=True)]


def _class_of(core: str, tag: str) -> WordClass:
    if any(each.isdigit() for each in core) and not any(each.isalpha() for each in core):
        return WordClass.CONTENT
    if core.lower() in _AUXILIARIES:
        return WordClass.STOP
    if tag.startswith(_CONTENT):
        return WordClass.CONTENT
    return WordClass.OTHER if tag.startswith(_OTHER) else WordClass.STOP


def _core(word: str, *, last: bool) -> str:
    """Return the word without surrounding punctuation, except the period of an abbreviation."""
    core = "".join(word.split()).strip("\"'“”‘’«»()[]{}<>,;:!?…*_-–—")
    for ending in _POSSESSIVES:
        core = core.removesuffix(ending)
    if last and core.count(".") == 1:
        core = core.removesuffix(".")
    return core if any(character.isalnum() for character in core) else ""


def _tagger() -> _Tagger:
    # With a cache alone, concurrent first calls would each load a lexicon.
    with _LOADING:
        return _loaded_tagger()


@cache
def _loaded_tagger() -> _Tagger:
    # Takes half a second and 60 MB, so that only policies that need it load it.
    from textblob.en.taggers import PatternTagger

    tagger: _Tagger = PatternTagger()
    with warnings.catch_warnings():
        # The tagger leaves closing its lexicon to the garbage collector.
        warnings.simplefilter("ignore", ResourceWarning)
        tagger.tag("a", tokenize=False)
    return tagger
