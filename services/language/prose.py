"""The prose of a source file: the same text, with spaces in place of everything else."""

import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(`+)[^`]+?\1")
_ADDRESS = re.compile(r"\]\([^)\s]*\)|https?://[^\s)>]+")
_TEMPLATE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SLASHES = re.compile(r"//(.*)")
_HASH = re.compile(r"(?:^|\s)#+(.*)")
_QUOTES = re.compile(r"^\w{0,2}(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")


def is_prose(path: Path) -> bool:
    """Return whether :func:`prose_of` knows where a file of this name has prose."""
    return path.suffix in _READERS or path.name in _READERS


def prose_of(path: Path, text: str) -> str:
    """Return the text with everything blanked that is not prose; lines keep their numbers.

    Prose is Markdown outside code and addresses; the comments of protobuf, YAML and make files;
    and the comments and string literals of Python.
    """
    read = _READERS.get(path.name) or _READERS[path.suffix]
    return read(text)


def _markdown(text: str) -> str:
    for pattern in (_FENCE, _INLINE, _ADDRESS):
        text = pattern.sub(lambda found: _blank(found.group()), text)
    return text


def _notes(text: str) -> str:
    return _TEMPLATE.sub(lambda found: _blank(found.group()), text)


def _comments(pattern: re.Pattern[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        return "\n".join(
            _kept(line, [found.span(1)] if (found := pattern.search(line)) else [])
            for line in text.split("\n")
        )

    return read


def _python(text: str) -> str:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans = [
        (starts[row - 1] + column + first, starts[row - 1] + column + last)
        for row, column, first, last in _literals(text)
    ]
    return _INLINE.sub(lambda found: _blank(found.group()), _kept(text, spans))


def _literals(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield line and column of each comment and string, and which of its characters are text."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            yield row, column, 1, len(token.string)
        elif token.type == tokenize.STRING:
            quotes = [found.span() for found in _QUOTES.finditer(token.string)]
            yield row, column, quotes[0][1], quotes[-1][0]
        elif tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            yield row, column, 0, len(token.string)


def _kept(text: str, spans: list[tuple[int, int]]) -> str:
    made, at = [], 0
    for start, end in spans:
        made += [_blank(text[at:start]), text[start:end]]
        at = end
    return "".join([*made, _blank(text[at:])])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


_READERS: dict[str, Callable[[str], str]] = {
    ".md": _markdown,
    ".proto": _comments(_SLASHES),
    ".py": _python,
    ".yaml": _comments(_HASH),
    "Makefile": _comments(_HASH),
    "NOTES.txt": _notes,
}
