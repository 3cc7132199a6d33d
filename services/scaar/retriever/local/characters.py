"""Character classes of :mod:`scaar.retriever.local.tokens`, as the content of a ``[...]``."""

import re
import unicodedata

from scaar.core.text.scripts import HAN, HIRAGANA, KATAKANA

SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u19df\u1a20-\u1aad\ua9e0-\ua9ef\ua9fa-\ua9fe"
    "\uaa60-\uaadf"
)
"""Scripts that need a dictionary to find words."""
HEBREW = "\u05d0-\u05f2\ufb1d-\ufb4f"

ZERO_WIDTH_SPACE = "\u200b"
_VOICED_MARKS = "\uff9e\uff9f"
_MORE_LETTERS = (
    "\u02c2-\u02c5\u02d2-\u02d7\u02de\u02df\u02ed\u02ef-\u02ff\u055b\u055c\u055e\u05f3"
    "\u24b6-\u24e9\ua720\ua721\ua789\ua78a\uab5b"
    "\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189"
)
EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605\u2607-\u2612"
    "\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744"
    "\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27a1\u27b0\u27bf\u2934"
    "\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f18e\U0001f191-\U0001f19a\U0001f21a\U0001f22f"
    "\U0001f232-\U0001f23a\U0001f250-\U0001f3fa\U0001f400-\U0001f53d\U0001f546-\U0001f64f"
    "\U0001f680-\U0001f6ff\U0001f7d5-\U0001f7ff\U0001f90c-\U0001faff"
)
"""Characters that Lucene treats as words of their own."""
EMOJI_MODIFIERS = "\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
REGIONAL_INDICATORS = "\U0001f1e6-\U0001f1ff"

_MID_BOTH = "'.\u2018\u2019\u2024\ufe52\uff07\uff0e"
MID_LETTER = f":\u00b7\u0387\u05f4\u2027\ufe13\ufe55\uff1a{_MID_BOTH}"
"""Characters allowed between two letters of a word."""
MID_NUMBER = (
    f",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b{_MID_BOTH}"
)
"""Characters allowed between two digits of a number."""

_LAST_SCANNED = 0x20000
# Letters beyond are ideographs, named above.


def letters() -> str:
    """Return the letters of scripts that separate words."""
    spaceless = f"{HAN}{HIRAGANA}{KATAKANA}{SOUTH_EAST_ASIAN}{_VOICED_MARKS}"
    return _of_categories("Lu", "Ll", "Lt", "Lm", "Lo", "Nl", leave_out=spaceless) + _MORE_LETTERS


def digits() -> str:
    """Return the decimal digits of every script, and the Arabic decimal separator."""
    return r"\d\u066b"


def joiners() -> str:
    """Return the low line and similar connectors."""
    return _of_categories("Pc", leave_out=ZERO_WIDTH_SPACE) + "\u202f"


def continuations() -> str:
    """Return the marks and format characters, which belong to the character before them."""
    return _of_categories("Mn", "Me", "Mc", "Cf", leave_out=ZERO_WIDTH_SPACE) + _VOICED_MARKS


def _of_categories(*categories: str, leave_out: str) -> str:
    left_out = re.compile(f"[{leave_out}]")
    ranges: list[list[int]] = []
    for code in range(_LAST_SCANNED):
        character = chr(code)
        if unicodedata.category(character) not in categories or left_out.match(character):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
