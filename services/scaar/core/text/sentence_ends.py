"""Rules for the end of a sentence.

A verdict depends only on the sentence so far and on the text up to the deciding character, so that
it does not depend on how the text arrives.
"""

import enum
import re
from collections.abc import Sequence
from typing import NamedTuple

from scaar.core.text.line_kinds import LineKind, ends_line, kind_of_line
from scaar.core.text.scripts import SPACELESS

# Abbreviations are in lower case, without their full stop. In capitals throughout, they are other
# words: "Oakland, CA. The mayor".


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words(
    """
    mr mrs ms mx dr prof mt ft messrs mme mlle msgr fr rev hon gen col lt capt cpt sgt maj cmdr
    cdr adm cpl pvt brig gov rep pres supt insp ste sra smt asst
    e.g i.e eg cf viz v vs approx ca vol vols fig figs nr eds dept
    vgl bzw z.b d.h u.a frl aprox dña gral cnel
    """
)
"""Words that never end a sentence: titles before a name, and words before an example or a
number. German and Spanish ones are in the same lists, since the language is not known."""

NUMBERING = _words("no nos art op ch sec pt ep pp ver abb bd kap str cap pág págs")
"""Words that do not end a sentence if a number follows, and can end one otherwise."""

AMBIGUOUS = _words(
    """
    st sen jr sr inc ltd co cos corp bros plc gmbh ave blvd rd hwy esq univ est etc al chas wm
    ph.d m.phil jan feb mar apr jun jul aug sep sept oct nov dec
    hr hrn fa usw av
    """
)
"""Words that may or may not end a sentence, as initials: F., U.S., a.m."""

COMPANY_FORMS = _words("inc ltd corp llc plc gmbh")
"""Words after the name of a company that start no sentence: "Yahoo! Inc. was sold"."""

SENTENCE_STARTERS = _words(
    """
    a an the this that these those he she it they we you i his her its their our my
    in on at by for from to of with after before during while when where who what which why how
    as since because although though if but and or so thus therefore hence however also both
    neither either then there another yes not now next finally moreover furthermore additionally
    according based until unlike despite among between under through some many most all each
    one two let here is was were are did does
    der ein eine er sie es wir und oder aber danach dann dies diese dieser wenn weil nicht
    él ella ellos ellas pero después luego entonces también cuando donde fue
    """
)
"""Words that start sentences and rarely names: an ambiguous full stop before one is an end."""

MONTHS = _words(
    """
    januar jänner februar feber märz april mai juni juli august september oktober november dezember
    """
)
"""Words that continue a sentence after a German ordinal: "am 3. Juni"."""

BEFORE_ORDINALS = _words("der die das dem den des im vom zum zur")
"""Words that make a number with a full stop a German ordinal: "das 19. Jahrhundert"."""

WINDOW = 40
"""Number of characters before a full stop that can affect the verdict; longer than any
abbreviation."""

_CLOSERS = "\"'”’»)]}>」』）】》*_`\\"
_OPENERS = _CLOSERS + "“‘«„‚([{<「『（【《¿¡"
_UNSPACED = "。！？｡।"
"""Full stops that end a sentence without a following space."""

CANDIDATE = re.compile(
    rf"([.!?…؟۔{_UNSPACED}]+)(?:[{re.escape(_CLOSERS)}]|(?<=[.!?…])[“«]|\[\d{{1,3}}\])*|\n"
)
"""Full stops, with the closing quotes, brackets and citations after them, and newlines.

German closes quotes with “ and «, which other languages open them with, but after a space.
"""

_UNFINISHED_CITATION = re.compile(r"\[\d{0,3}\Z")
_GAP = re.compile(rf"\s+[{re.escape(_OPENERS)}\s]*")
_SPACE = re.compile(r"\s+")
_LAST_WORD = re.compile(rf"[^\s/–—{SPACELESS}-]*\Z")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = re.compile(r"[^\W\d_]{1,20}")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_LIST_MARKER = re.compile(r"\d{1,2}|[^\W\d_]|[ivx]{1,4}", re.IGNORECASE)
_ORDINAL = re.compile(r"\d{1,3}")
_DOUBLED = re.compile(r"([A-Z])\1")
"""Spanish plurals of initials: EE. UU."""
_QUOTED = re.compile(r"[」』][とっをはがのに]")
"""A Japanese quotation that its sentence continues: 「…。」と言った."""
_LETTER_WITHOUT_SPACES = re.compile(f"[{SPACELESS}]")
_CONTINUES = frozenset(".,;:!?…&+=/%|~–—-")


class Verdict(enum.Enum):
    """Whether a sentence ends at a candidate; undecided if more text is needed."""

    END = enum.auto()
    NO_END = enum.auto()
    UNDECIDED = enum.auto()


class LineEnd(NamedTuple):
    """The judgement of a newline: the end of its sentence, and the line after it."""

    verdict: Verdict
    end: int
    after: int
    """The end of the white space."""
    line: LineKind
    """The kind of the line that begins there."""


def judge_newline(text: str, start: int, at: int, line: LineKind, *, held: bool) -> LineEnd:
    """Return whether the newline ``at``, which ends a ``line``, ends a sentence.

    It does if a blank line follows, or if one of the two lines is part of a list, a table or code,
    or a heading.
    """
    space = _SPACE.match(text, at)
    assert space is not None
    end = at
    while end > start and text[end - 1].isspace():
        end -= 1
    after = space.end()
    following = None
    if after < len(text):
        following = kind_of_line(text, after, space=space[0], before=line)
    if following is None:
        return LineEnd(Verdict.UNDECIDED, end, after, line)
    ends = (space[0].count("\n") > 1 or ends_line(line, following)) and (held or end > start)
    return LineEnd(Verdict.END if ends else Verdict.NO_END, end, after, following)


def judge_stop(text: str, start: int, stop: re.Match[str], *, held: bool) -> Verdict:
    """Return whether the sentence from ``start`` ends with a full stop.

    It does if a space and the start of a sentence follow, and the word before the stop is no
    abbreviation. With ``held``, the sentence started before ``start``.
    """
    if stop.end() == len(text) or _UNFINISHED_CITATION.match(text, stop.end()):
        return Verdict.UNDECIDED
    gap = _GAP.match(text, stop.end())
    unspaced = stop[1][-1] in _UNSPACED
    if gap is None:
        return _judge_unspaced(text, stop) if unspaced or start < stop.start() else Verdict.NO_END
    if gap.end() == len(text):
        return Verdict.UNDECIDED
    if unspaced:
        return Verdict.END
    following = text[gap.end()]
    if following.islower() or (following.isdigit() and "(" in gap[0]):
        return Verdict.NO_END
    if following in _CONTINUES and "\n" not in gap[0]:
        return Verdict.NO_END
    if "!" in stop[1] or "?" in stop[1] or "؟" in stop[1]:
        return _judge_after_name(text, gap.end())
    first = max(start, stop.start() - WINDOW)
    before = text[first : stop.start()].rstrip(_CLOSERS)
    found = _LAST_WORD.search(before)
    assert found is not None
    word = found[0].strip(_OPENERS)
    names = _WORD.findall(before[: found.start()])
    if _ORDINAL.fullmatch(word) and (ordinal := _judge_ordinal(names, text, gap.end())) is not None:
        return ordinal
    if _DOUBLED.fullmatch(word):
        if gap.end() + 1 == len(text):
            return Verdict.UNDECIDED
        if _DOUBLED.match(text, gap.end()):
            return Verdict.NO_END
    if _LIST_MARKER.fullmatch(word) and _begins_item(
        before[: found.start()], word, begins_sentence=first == start and not held
    ):
        return Verdict.NO_END
    if (repeated := _judge_repeated(word, text, gap.end())) is not None:
        return repeated
    return _judge_next(_standing(word, stop[1]), names, text, gap.end())


def _judge_unspaced(text: str, stop: re.Match[str]) -> Verdict:
    """Return whether a full stop without a following space ends a sentence.

    It does in Chinese and Japanese: also an ASCII one between two of their characters.
    """
    if stop[1][-1] not in _UNSPACED:
        beside = (text[stop.start() - 1], text[stop.end()])
        ends = "…" not in stop[1] and all(map(_LETTER_WITHOUT_SPACES.match, beside))
        return Verdict.END if ends else Verdict.NO_END
    return Verdict.NO_END if _QUOTED.match(text, stop.end() - 1) else Verdict.END


def _judge_ordinal(names: Sequence[str], text: str, following: int) -> Verdict | None:
    """Return whether a sentence ends with a number; None if it is no German ordinal."""
    letters = _LETTERS.match(text, following)
    if letters is None:
        return None
    word = letters[0].casefold()
    after_article = bool(names) and names[-1].casefold() in BEFORE_ORDINALS
    if letters.end() == len(text):
        may_be = any(month.startswith(word) for month in MONTHS)
        return Verdict.UNDECIDED if may_be or after_article else None
    if word in MONTHS:
        return Verdict.NO_END
    return Verdict.NO_END if after_article and word not in SENTENCE_STARTERS else None


def _judge_after_name(text: str, following: int) -> Verdict:
    """Return whether a "!" or "?" ends a sentence, or is part of a company name."""
    letters = _LETTERS.match(text, following)
    if letters is None:
        return Verdict.END
    word = letters[0].casefold()
    if letters.end() == len(text) and any(form.startswith(word) for form in COMPANY_FORMS):
        return Verdict.UNDECIDED
    return Verdict.NO_END if word in COMPANY_FORMS else Verdict.END


def _judge_repeated(word: str, text: str, following: int) -> Verdict | None:
    """Return an end if the initials repeat immediately: "It is the N.B.A. N.B.A. games are long".

    None if they do not, or if the word is a single initial, as in "J. J. Low".
    """
    if "." not in word:
        return None
    rest, whole = text[following : following + len(word) + 1], f"{word}."
    if rest == whole:
        return Verdict.END
    return Verdict.UNDECIDED if whole.startswith(rest) else None


def _begins_item(before: str, word: str, *, begins_sentence: bool) -> bool:
    """Return whether a word such as ``1`` or ``a`` numbers an item of a list."""
    rest = before.rstrip(" \t" + _OPENERS)
    if not rest:
        return begins_sentence
    return rest.endswith("\n") or (rest.endswith(":") and word.isdigit())


class _Standing(enum.Enum):
    """Meaning of a full stop, by the word before it."""

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
    if folded in NUMBERING or folded.endswith("str"):
        return _Standing.BEFORE_NUMBERS
    return _Standing.AMBIGUOUS if folded in AMBIGUOUS else _Standing.PLAIN


def _judge_next(standing: _Standing, names: Sequence[str], text: str, following: int) -> Verdict:
    """Return whether a sentence follows; ``names`` are the words before the last one."""
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
    # "J. I. Packer": a starter that is an initial starts no sentence.
    starts = word.casefold() in SENTENCE_STARTERS and text[letters.end()] != "."
    # "owned by Mars, Inc. Mars was founded": chains of thought repeat a name. But in "Carroll,
    # better known as E.J. Carroll" initials continue, unless they directly follow the name.
    repeatable = {_Standing.AMBIGUOUS: names, _Standing.INITIALS: names[-1:]}
    repeats = len(word) > 1 and word in repeatable.get(standing, ())
    caseless = not word[0].isupper() and not word[0].istitle()
    return Verdict.END if starts or repeats or caseless else Verdict.NO_END
