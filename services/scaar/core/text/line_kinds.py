"""Kinds of the lines of a text: prose, and the lines of Markdown that are sentences of their own.

The rules follow CommonMark, as far as the beginning of a line decides: a list that interrupts a
paragraph begins with 1, and code is indented after a blank line only.
"""

import enum
import re


class LineKind(enum.Enum):
    """Kind of a line."""

    PROSE = enum.auto()
    ITEM = enum.auto()
    """The first line of an item of a list."""
    CONTINUATION = enum.auto()
    """An indented line that continues an item."""
    HEADING = enum.auto()
    ROW = enum.auto()
    """A row of a table."""
    OPENING_FENCE = enum.auto()
    CODE = enum.auto()
    """A line between two fences."""
    CLOSING_FENCE = enum.auto()
    INDENTED = enum.auto()
    """A line of indented code."""

    @property
    def is_structural(self) -> bool:
        """Whether the line is part of a list, a table or code, or a heading."""
        return self is not LineKind.PROSE

    @property
    def is_whole(self) -> bool:
        """Whether no sentence ends within the line."""
        return self in _WHOLE


_WHOLE = frozenset(
    {
        LineKind.ROW,
        LineKind.OPENING_FENCE,
        LineKind.CODE,
        LineKind.CLOSING_FENCE,
        LineKind.INDENTED,
    }
)
_CODE_INDENT = 4
_FENCE = re.compile(r"```|~~~")
_HEADING = re.compile(r"#{1,6}(?=\s)")
_BULLET = re.compile(r"[-*+•](?=\s)")
_NUMBER = re.compile(r"(\d{1,2}|[a-z])(?:\)(?=\s)|(?<=\d)\.(?=\s)|(?<=\d)、)")
_UNFINISHED_FENCE = re.compile(r"(?:`{1,2}|~{1,2})\Z")
_UNFINISHED = re.compile(r"(?:`{1,2}|~{1,2}|#{1,6}|[-*+•]|(?:\d{1,2}|[a-z])[.)]?)\Z")
"""The beginning of a line that more text can make a fence, a heading or an item."""

_BREAK = re.compile(r"\n\s*")


def kind_of_line(
    text: str, at: int, *, space: str = "", before: LineKind = LineKind.PROSE
) -> LineKind | None:
    """Return the kind of the line whose first character that is no space is at ``at``.

    ``space`` is the white space before it, from the end of the line ``before``. None if more text
    is needed.
    """
    blank, indent = space.count("\n") > 1, _indent(space)
    in_code = before in (LineKind.OPENING_FENCE, LineKind.CODE)
    in_item = before in (LineKind.ITEM, LineKind.CONTINUATION)
    if (_UNFINISHED_FENCE if in_code else _UNFINISHED).match(text, at):
        return None
    if _FENCE.match(text, at):
        return LineKind.CLOSING_FENCE if in_code else LineKind.OPENING_FENCE
    if in_code:
        return LineKind.CODE
    if text[at] == "|":
        return LineKind.ROW
    if _HEADING.match(text, at):
        return LineKind.HEADING
    number = _NUMBER.match(text, at)
    interrupts = blank or before.is_structural or not space
    if _BULLET.match(text, at) or (number and (interrupts or number[1] in ("1", "a"))):
        return LineKind.ITEM
    if indent and in_item and not blank:
        return LineKind.CONTINUATION
    is_code = before is LineKind.INDENTED or (blank and not in_item)
    return LineKind.INDENTED if indent >= _CODE_INDENT and is_code else LineKind.PROSE


def ends_line(before: LineKind, after: LineKind) -> bool:
    """Return whether the newline between two lines, without a blank line, ends a sentence."""
    if after is LineKind.CONTINUATION:
        return False
    return before.is_structural or after.is_structural


def first_line(text: str, before: LineKind | None = None) -> LineKind | None:
    """Return the kind of the line of the first character that is no space.

    ``before`` is the kind of the line that the text continues, unless it begins with a newline;
    None at the beginning. The result is None if more text is needed.
    """
    at = len(text) - len(text.lstrip())
    if at == len(text):
        return None
    if before is not None and "\n" not in text[:at]:
        return before
    return kind_of_line(text, at, space=text[:at], before=before or LineKind.PROSE)


def last_line(text: str, before: LineKind | None = None) -> LineKind | None:
    """Return the kind of the last line that is not blank; ``before`` if there is none.

    ``before`` is as for :func:`first_line`.
    """
    if not text.strip():
        return before
    # A newline decides what the beginning of the last line is.
    text = f"{text.rstrip()}\n"
    kind = first_line(text, before) or LineKind.PROSE
    for gap in _BREAK.finditer(text, len(text) - len(text.lstrip()), len(text) - 1):
        kind = kind_of_line(text, gap.end(), space=gap[0], before=kind) or LineKind.PROSE
    return kind


def _indent(space: str) -> int:
    """Return the columns between the last newline and the line's first character."""
    line = space.rpartition("\n")[2]
    return len(line.expandtabs(_CODE_INDENT))
