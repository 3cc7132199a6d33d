"""Tokenizer of text into words, as in Unicode's UAX #29 and Lucene's standard tokenizer.

Character classes follow general categories, which differ from the ``Word_Break`` property only for
rare characters. Each ideograph and Hiragana character is a word; each run of Katakana, or of a
script without spaces (Thai, Lao, Khmer, Myanmar), is a word.
"""

import functools
import re
from collections.abc import Iterator

from scaar.core.text.scripts import HAN, HIRAGANA, KATAKANA
from scaar.retriever.local import characters

MAX_TOKEN_CHARACTERS = 255
"""Longer words are split into pieces of this length, as in the standard tokenizer."""
_PIECE_CHARACTERS = 20_000


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text in order, unchanged."""
    pattern, only_joiners = _patterns()
    for begin, end in _pieces(text):
        for word in pattern.findall(text, begin, end):
            if only_joiners.fullmatch(word):
                continue
            if len(word) <= MAX_TOKEN_CHARACTERS:
                yield word
            else:
                for start in range(0, len(word), MAX_TOKEN_CHARACTERS):
                    yield word[start : start + MAX_TOKEN_CHARACTERS]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans that cover the text and end after a space, which no word contains.

    Matching a pattern blocks other threads until it returns, so a long text is matched in pieces.
    """
    begin = 0
    while len(text) - begin > _PIECE_CHARACTERS:
        end = text.rfind(" ", begin, begin + _PIECE_CHARACTERS) + 1
        end = end or text.find(" ", begin + _PIECE_CHARACTERS) + 1 or len(text)
        yield begin, end
        begin = end
    yield begin, len(text)


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Possessive quantifiers keep the time linear in the length of any text.
    after = f"[{characters.continuations()}]*+"
    joiners = f"(?:[{characters.joiners()}]{after})"
    letter = f"[{characters.letters()}]{after}"
    digit = f"[{characters.digits()}]{after}"
    katakana = f"[{KATAKANA}]{after}"
    hebrew_end = f"(?:(?<=[{characters.HEBREW}])(?:\"(?=[{characters.HEBREW}])|'))?+"

    letter_run = (
        f"{letter}(?:(?:{joiners}*+|[{characters.MID_LETTER}]{after}){letter})*+{hebrew_end}"
    )
    digit_run = f"{digit}(?:(?:{joiners}*+|[{characters.MID_NUMBER}]{after}){digit})*+"
    katakana_run = f"{katakana}(?:{joiners}*+{katakana})*+"
    run = f"(?:{katakana_run}|(?:{letter_run}|{digit_run})++)"
    joined = f"{run}(?:{joiners}++{run})*+{joiners}*+"

    pictograph = f"[{characters.EMOJI}][{characters.EMOJI_MODIFIERS}]*+"
    alternatives = (
        # Fast path for the common case of the next one: no further word can join.
        r"[A-Za-z]++(?=\.?+,?+[ )\n])",
        joined,
        # Joiners alone match too, and are dropped later, so that they are scanned only once.
        f"{joiners}++(?:{joined})?+",
        f"[{characters.SOUTH_EAST_ASIAN}]++{after}",
        f"[{HAN}{HIRAGANA}]{after}",
        f"[{characters.REGIONAL_INDICATORS}]{{2}}",
        f"{pictograph}(?:\u200d{pictograph})*+",
    )
    return re.compile("|".join(alternatives)), re.compile(f"{joiners}++")
