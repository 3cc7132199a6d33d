"""Words of a text as Unicode's UAX #29 and Lucene's standard tokenizer see them.

The classes of characters are taken from their general categories, which differ from the
``Word_Break`` property in rare characters only. Ideographs and Hiragana are one word each,
Katakana and the scripts without spaces (Thai, Lao, Khmer, Myanmar) one word a run.
"""

import functools
import re
from collections.abc import Iterator

from scaar.retriever import characters

MAX_TOKEN_CHARACTERS = 255
"""Longer words are cut into pieces of this length, as the standard tokenizer does."""
_PIECE_CHARACTERS = 20_000


def words_of(text: str) -> Iterator[str]:
    """The words of a text in order, as they are written."""
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
    """Spans that cover the text and end behind a space, which no word holds.

    A search of the pattern keeps other threads waiting until it returns; a long text is searched
    piece by piece.
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
    # Possessive quantifiers: the time is linear in the text, whatever it holds.
    after = f"[{characters.continuations()}]*+"
    joiners = f"(?:[{characters.joiners()}]{after})"
    letter = f"[{characters.letters()}]{after}"
    digit = f"[{characters.digits()}]{after}"
    katakana = f"[{characters.KATAKANA}]{after}"
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
        # The common case of the next one, to be quick: what follows cannot join a further word.
        r"[A-Za-z]++(?=\.?+,?+[ )\n])",
        joined,
        # Joiners alone are found too, and left out later: they are read once only.
        f"{joiners}++(?:{joined})?+",
        f"[{characters.SOUTH_EAST_ASIAN}]++{after}",
        f"[{characters.HAN}{characters.HIRAGANA}]{after}",
        f"[{characters.REGIONAL_INDICATORS}]{{2}}",
        f"{pictograph}(?:\u200d{pictograph})*+",
    )
    return re.compile("|".join(alternatives)), re.compile(f"{joiners}++")
