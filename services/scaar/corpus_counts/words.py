"""Words of texts and entities, as they are counted."""

import re
import unicodedata

from scaar.core.text.scripts import SPACELESS

_WORD = re.compile(rf"[{SPACELESS}]|[^\W_{SPACELESS}]+")


def counted_words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, in NFKC without regard to case.

    Each Chinese or Japanese character is a word. White space and punctuation separate words, so
    that an entity has the same words however it is written.
    """
    if text.isascii():
        return _WORD.findall(text.lower())
    # Case folding can undo the composition of characters.
    return _WORD.findall(
        unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    )
