"""Evidence that texts are not English, by a rule on script and stop words.

A text is not English if it has at least ``MIN_LETTERS`` letters and half of them or more are not
Latin, or if it has at least ``MIN_WORDS`` words and less than ``MIN_STOP_WORDS`` of them are in the
list of stop words. Other languages in Latin letters have few words of this list, and those rarely.
"""

import re
import unicodedata

MIN_LETTERS = 10
MAX_OTHER_LETTERS = 0.5
MIN_WORDS = 30
MIN_STOP_WORDS = 0.05
READ_CHARACTERS = 2_000
"""Length of the start of a text by which it is judged, in code points."""
STOP_WORDS = frozenset(
    "the of and to by from with for at it its are were be been has have this that these those "
    "which who whom whose when where why how what not but they their there he his him she her you "
    "your our would could should can will may than then some other about after before "
    "between".split()
)
_WORD = re.compile(r"[^\W\d_]+")


def other_language(text: str) -> str:
    """Return the evidence that a text is not English, as a phrase; empty for English or unknown."""
    words = _WORD.findall(text[:READ_CHARACTERS])
    letters = "".join(words)
    if len(letters) < MIN_LETTERS:
        return ""
    other = sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if other >= MAX_OTHER_LETTERS * len(letters):
        return f"{other / len(letters):.0%} of the letters are not Latin"
    if len(words) < MIN_WORDS:
        return ""
    known = sum(word.casefold() in STOP_WORDS for word in words)
    if known < MIN_STOP_WORDS * len(words):
        return f"{known} of {len(words)} words are English stop words"
    return ""
