"""Phrases to avoid, and where they occur in a text."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase to avoid, what to write instead, and the contexts in which it is allowed."""

    pattern: re.Pattern[str]
    write: str
    allowed: Sequence[re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A phrase in a text, as it is written there, and its line, counted from 1."""

    phrase: Phrase
    text: str
    line: int


def read_phrases(path: Path) -> Sequence[Phrase]:
    """Return the phrases of a TOML file, in its order.

    Each ``[[phrase]]`` has ``avoid`` and ``write``. ``avoid`` is a regular expression in which a
    space matches any whitespace; ``allow`` lists further ones, of contexts that include it.

    Raises:
        KeyError: an entry has no ``avoid`` or no ``write``.
        re.error: an expression is invalid.
    """
    return [
        Phrase(
            _compiled(each["avoid"]),
            each["write"],
            [_compiled(context) for context in each.get("allow", ())],
        )
        for each in tomllib.loads(path.read_text(encoding="utf-8"))["phrase"]
    ]


def find_phrases(text: str, phrases: Sequence[Phrase]) -> Iterator[Occurrence]:
    """Yield the occurrences of phrases in a text, those of each phrase in order of position."""
    for phrase in phrases:
        contexts = [found.span() for allowed in phrase.allowed for found in allowed.finditer(text)]
        for found in phrase.pattern.finditer(text):
            start, end = found.span()
            if not any(first <= start and end <= last for first, last in contexts):
                line = text.count("\n", 0, start) + 1
                yield Occurrence(phrase, " ".join(found.group().split()), line)


def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + expression.replace(" ", r"\s+") + r")\b", re.IGNORECASE)
