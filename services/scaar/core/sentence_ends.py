"""Where a sentence ends: the rules, each of which looks no further than it must.

A verdict depends on the sentence so far and on what was read up to its deciding character alone,
so that it is the same however the text came.
"""

import enum
import re
from collections.abc import Sequence

from scaar.core.abbreviations import (
    AMBIGUOUS,
    COMPANY_FORMS,
    NEVER_LAST,
    NUMBERING,
    SENTENCE_STARTERS,
)

WINDOW = 40
"""How many characters before a full stop may matter; no abbreviation is as long."""

_CLOSERS = "\"'”’»)]}>」』）】》*_`\\"
_OPENERS = _CLOSERS + "“‘«([{<「『（【《¿¡"
_UNSPACED = "。！？｡।"
"""Full stops that need no space after them."""

CANDIDATE = re.compile(rf"([.!?…؟۔{_UNSPACED}]+)(?:[{re.escape(_CLOSERS)}]|\[\d{{1,3}}\])*|\n")
"""Full stops, with the quotes, brackets and citations that close after them, and newlines."""

_UNFINISHED_CITATION = re.compile(r"\[\d{0,3}\Z")
_GAP = re.compile(rf"\s+[{re.escape(_OPENERS)}\s]*")
_SPACE = re.compile(r"\s+")
_LAST_WORD = re.compile(r"[^\s/–—-]*\Z")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = re.compile(r"[^\W\d_]{1,20}")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_LIST_MARKER = re.compile(r"\d{1,2}|[^\W\d_]|[ivx]{1,4}", re.IGNORECASE)
_GOES_ON = frozenset(".,;:!?…&+=/%|~–—-")


class Verdict(enum.Enum):
    """Whether a sentence ends at a candidate; undecided where more must be read."""

    END = enum.auto()
    NO_END = enum.auto()
    UNDECIDED = enum.auto()


def judge_newline(text: str, start: int, at: int, *, held: bool) -> tuple[Verdict, int, int]:
    """Whether the white space around the newline ``at`` is a blank line: that ends a sentence.

    Gives the verdict, where the sentence would end, and where the white space does.
    """
    space = _SPACE.match(text, at)
    assert space is not None
    end = at
    while end > start and text[end - 1].isspace():
        end -= 1
    if space.end() == len(text):
        return Verdict.UNDECIDED, end, space.end()
    ends = space[0].count("\n") > 1 and (held or end > start)
    return Verdict.END if ends else Verdict.NO_END, end, space.end()


def judge_stop(text: str, start: int, stop: re.Match[str], *, held: bool) -> Verdict:
    """Whether the sentence from ``start`` ends with a full stop.

    It does where space and then the start of a sentence follow, and the word before it is no
    abbreviation. ``held`` says that the sentence began before ``start``, out of sight.
    """
    if stop.end() == len(text) or _UNFINISHED_CITATION.match(text, stop.end()):
        return Verdict.UNDECIDED
    gap = _GAP.match(text, stop.end())
    unspaced = stop[1][-1] in _UNSPACED
    if gap is None:
        return Verdict.END if unspaced else Verdict.NO_END
    if gap.end() == len(text):
        return Verdict.UNDECIDED
    if unspaced:
        return Verdict.END
    following = text[gap.end()]
    if following.islower() or (following.isdigit() and "(" in gap[0]):
        return Verdict.NO_END
    if following in _GOES_ON and "\n" not in gap[0]:
        return Verdict.NO_END
    if "!" in stop[1] or "?" in stop[1] or "؟" in stop[1]:
        return _judge_after_name(text, gap.end())
    first = max(start, stop.start() - WINDOW)
    before = text[first : stop.start()].rstrip(_CLOSERS)
    found = _LAST_WORD.search(before)
    assert found is not None
    word = found[0].strip(_OPENERS)
    if _LIST_MARKER.fullmatch(word) and _begins_item(
        before[: found.start()], word, begins_sentence=first == start and not held
    ):
        return Verdict.NO_END
    if (repeated := _judge_repeated(word, text, gap.end())) is not None:
        return repeated
    names = _WORD.findall(before[: found.start()])
    return _judge_next(_standing(word, stop[1]), names, text, gap.end())


def _judge_after_name(text: str, following: int) -> Verdict:
    """Whether an exclamation or question mark ends a sentence, or stands in a company's name."""
    letters = _LETTERS.match(text, following)
    if letters is None:
        return Verdict.END
    word = letters[0].casefold()
    if letters.end() == len(text) and any(form.startswith(word) for form in COMPANY_FORMS):
        return Verdict.UNDECIDED
    return Verdict.NO_END if word in COMPANY_FORMS else Verdict.END


def _judge_repeated(word: str, text: str, following: int) -> Verdict | None:
    """An end where initials are taken up at once: "It is the N.B.A. N.B.A. games are long".

    None where they are not, or where the word is an initial by itself, as in "J. J. Low".
    """
    if "." not in word:
        return None
    rest, whole = text[following : following + len(word) + 1], f"{word}."
    if rest == whole:
        return Verdict.END
    return Verdict.UNDECIDED if whole.startswith(rest) else None


def _begins_item(before: str, word: str, *, begins_sentence: bool) -> bool:
    """Whether a word such as ``1`` or ``a`` numbers an item of a list, by what stands before."""
    rest = before.rstrip(" \t" + _OPENERS)
    if not rest:
        return begins_sentence
    return rest.endswith("\n") or (rest.endswith(":") and word.isdigit())


class _Standing(enum.Enum):
    """What a full stop may mean by the word that it stands on."""

    PLAIN = enum.auto()
    NEVER_LAST = enum.auto()
    BEFORE_NUMBERS = enum.auto()
    AMBIGUOUS = enum.auto()
    INITIALS = enum.auto()
    ELLIPSIS = enum.auto()


def _standing(word: str, stop: str) -> _Standing:
    folded = word.casefold()
    if "…" in stop or "..." in stop:
        return _Standing.ELLIPSIS
    if _INITIALS.fullmatch(word):
        return _Standing.NEVER_LAST if folded in NEVER_LAST else _Standing.INITIALS
    if len(word) > 1 and word.isupper():
        return _Standing.PLAIN
    if folded in NEVER_LAST:
        return _Standing.NEVER_LAST
    if folded in NUMBERING:
        return _Standing.BEFORE_NUMBERS
    return _Standing.AMBIGUOUS if folded in AMBIGUOUS else _Standing.PLAIN


def _judge_next(standing: _Standing, names: Sequence[str], text: str, following: int) -> Verdict:
    """Whether what follows begins a sentence; ``names`` are the words before that of the stop."""
    match standing:
        case _Standing.PLAIN:
            return Verdict.END
        case _Standing.NEVER_LAST:
            return Verdict.NO_END
        case _Standing.BEFORE_NUMBERS:
            return Verdict.NO_END if text[following].isdigit() else Verdict.END
    letters = _LETTERS.match(text, following)
    if letters is None:
        return Verdict.NO_END
    if letters.end() == len(text):
        return Verdict.UNDECIDED
    word = letters[0]
    # "J. I. Packer": a starter that is an initial itself starts nothing.
    starts = word.casefold() in SENTENCE_STARTERS and text[letters.end()] != "."
    # "owned by Mars, Inc. Mars was founded": chains of thought take up a name again. But in
    # "Carroll, better known as E.J. Carroll" initials go on, unless they stand after the name.
    taken_up = {_Standing.AMBIGUOUS: names, _Standing.INITIALS: names[-1:]}
    repeats = len(word) > 1 and word in taken_up.get(standing, ())
    caseless = not word[0].isupper() and not word[0].istitle()
    return Verdict.END if starts or repeats or caseless else Verdict.NO_END
