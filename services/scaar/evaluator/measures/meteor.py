"""METEOR with exact and stem matches, without synonyms.

Banerjee and Lavie, "METEOR: An Automatic Metric for MT Evaluation", 2005, with the weights of
Lavie and Agarwal (2007) that NLTK uses: alpha 0.9, beta 3, gamma 0.5, and Porter's stemmer. NLTK
ships no WordNet, the source of synonyms of the full measure: hence the name. Scores of this variant
are comparable only with each other. Words are
lower-case; punctuation marks are words of their own.

A match of a single word scores at most 0.5, since one word is one fragment, as published.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial

from scaar.evaluator.measures.libraries import needs

_WORD = re.compile(r"\w+|[^\w\s]")


class _NoSynonyms:
    """A WordNet in which no word has a synonym."""

    def synsets(self, word: str) -> list[object]:
        return []


def meteor_exact_stem(prediction: str, answers: Sequence[str]) -> float:
    """Return METEOR with exact and stem matches in [0, 1], the best over the answers."""
    words = _words_of(prediction)
    return max((_meteor(words, _words_of(answer)) for answer in answers), default=0.0)


def _words_of(text: str) -> list[str]:
    """The lower-case words, and each other sign by itself."""
    return _WORD.findall(text.lower())


def _meteor(words: list[str], expected: list[str]) -> float:
    if not words or not expected:
        return 0.0
    return _of_nltk()(expected, words)


@cache
def _of_nltk() -> Callable[[list[str], list[str]], float]:
    with needs("nltk"):
        from nltk.stem.porter import PorterStemmer
        from nltk.translate.meteor_score import single_meteor_score
    return partial(single_meteor_score, stemmer=PorterStemmer(), wordnet=_NoSynonyms())
