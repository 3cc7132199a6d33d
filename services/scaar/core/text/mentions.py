"""Mentions of the titles of passages in a question and in other passages."""

import re
from collections.abc import Callable, Iterable

from scaar.core.text.words import bare_word, cased_word, split_words
from scaar.core.types import HEADING_SEPARATOR

_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
"""The end of a title that tells it from others, as in "Nosferatu (1922 film)"."""


class Mentions:
    """What a question and texts mention.

    A title is mentioned if its words are there, one after another, without regard to punctuation
    and possessive endings. In texts, case counts: the heading "Options" is not mentioned by every
    text on options.
    """

    def __init__(self, question: str, texts: Iterable[str] = ()) -> None:
        self._question = _bounded(question, bare_word)
        self._texts = tuple(_bounded(text, cased_word) for text in texts)

    def have(self, title: str) -> bool:
        """Return whether a title is mentioned; of a section, its own without those above it."""
        own = _QUALIFIER.sub("", title.rpartition(HEADING_SEPARATOR)[2])
        if not own.strip():
            return False
        cased = _bounded(own, cased_word)
        return _bounded(own, bare_word) in self._question or any(
            cased in text for text in self._texts
        )


def _bounded(text: str, form: Callable[[str], str]) -> str:
    """Return the words of a text in a form, with a boundary before, between and after them."""
    return "".join(f"\n{form(word.text)}" for word in split_words(text)) + "\n"
