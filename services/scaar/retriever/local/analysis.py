"""Text analysis for BM25: the chain of the ``english`` analyzer of Lucene and OpenSearch.

Standard tokenizer, possessive filter, lower case, 33 stop words and Porter stemmer, the same for
passages and queries.
"""

import functools
import threading

import Stemmer

from scaar.core.types import DenseDescription
from scaar.retriever.dense import VECTOR_ANALYZER
from scaar.retriever.local.tokens import words_of

ANALYZER = "english-1"
"""Name of the analysis in manifests. Increment it when the chain below changes."""

# EnglishAnalyzer.ENGLISH_STOP_WORDS_SET
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)
_APOSTROPHES = frozenset("'’＇")
_NOT_UNDOUBLED = frozenset(consonant * 2 for consonant in "chjkqvwx")
_BLI = ("bli", "bly", "blis", "blies")
_LOGI = ("logi", "logy", "logis", "logies")
_CACHED_TERMS = 1 << 16


def analyzer_of(dense: DenseDescription | None) -> str:
    """Return the name of the analysis of an index with these vectors, if any."""
    if dense is None:
        return ANALYZER
    return f"{ANALYZER}+{VECTOR_ANALYZER}" if dense.settings.words else VECTOR_ANALYZER


class EnglishAnalyzer:
    """Computes the index terms of texts. Thread-safe."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("porter", 0)
        self._stemmer_lock = threading.Lock()  # PyStemmer's stemmers are not thread-safe
        self._term = functools.lru_cache(maxsize=_CACHED_TERMS)(self._term_of)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, in order and with repetitions."""
        return [term for word in words_of(text) if (term := self._term(word))]

    def _term_of(self, word: str) -> str:
        """Return the term of a word, empty for a stop word."""
        lower = _lower(_without_possessive(word))
        return "" if lower in STOP_WORDS else self._stem(lower)

    def _stem(self, word: str) -> str:
        """Return the stem as computed by Porter's published program, which Lucene uses.

        Snowball's ``porter`` implements the algorithm of Porter's paper. The program differs: words
        of one or two letters stay unchanged, step 1b undoubles every consonant except l, s and z,
        and step 2 turns every ``bli`` (not only ``abli``) into ``ble`` and ``logi`` into ``log``.
        """
        if len(word) <= 2:
            return word
        stem = self._snowball(word)
        if stem[-2:] in _NOT_UNDOUBLED and word[len(stem) :] in ("ed", "ing", "eds", "ings"):
            return stem[:-1]
        if stem.endswith("bli") and word.endswith(_BLI) and _has_measure(stem[:-3]):
            return self._snowball(f"{stem[:-1]}e")
        if stem.endswith("logi") and word.endswith(_LOGI) and _has_measure(stem[:-4]):
            return stem[:-1]
        return stem

    def _snowball(self, word: str) -> str:
        with self._stemmer_lock:
            stem: str = self._stemmer.stemWord(word)
        return stem


def indexed_text(title: str, text: str) -> str:
    """Return the text of a passage that is indexed."""
    return f"{title} {text}"


def _without_possessive(word: str) -> str:
    if len(word) >= 2 and word[-1] in "sS" and word[-2] in _APOSTROPHES:
        return word[:-2]
    return word


def _lower(word: str) -> str:
    if word.isascii():
        return word.lower()
    # Character by character as in Java: "İ" is one letter, "Σ" at the end no special case.
    return "".join(character.lower()[0] for character in word)


def _has_measure(stem: str) -> bool:
    """Return whether Porter's measure of a stem is over 0: some vowel precedes a consonant."""
    vowel_seen = False
    before_is_vowel = False
    for position, letter in enumerate(stem):
        is_vowel = letter in "aeiou" or (letter == "y" and position > 0 and not before_is_vowel)
        if vowel_seen and not is_vowel:
            return True
        vowel_seen = vowel_seen or is_vowel
        before_is_vowel = is_vowel
    return False
