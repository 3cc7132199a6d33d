"""Passages by the names that a reader knows: file and headings, else title, else id."""

from collections.abc import Iterable

from scaar.core.text.passage_source import BETWEEN, source_text
from scaar.core.types import RetrievedPassage

_LONG = 60
"""Characters above which a name is shortened in lists."""
_NUMBERS = "no one two three four five six seven eight nine ten".split()


def name_of(passage: RetrievedPassage) -> str:
    """Return file, headings and page of a passage of a document; of another one the title."""
    return source_text(passage) or passage.title or passage.id


def short_name(name: str) -> str:
    """Return a name that is long with its file and its last heading alone."""
    parts = name.split(BETWEEN)
    if len(name) <= _LONG or len(parts) < 3:
        return name
    file = parts[0].rpartition("/")[2]
    return BETWEEN.join((file, "…", parts[-1]))


class PassageNames:
    """The names of the passages that an answer has retrieved."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def add(self, passages: Iterable[RetrievedPassage]) -> None:
        """Take up retrieved passages."""
        self._names |= {passage.id: name_of(passage) for passage in passages}

    def of(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return the name of each passage, each name once; the id of one that is not known."""
        return tuple(dict.fromkeys(self._names.get(name, name) for name in ids))


def passages_text(count: int) -> str:
    """Return a number of passages in words: ``three passages``."""
    number = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return f"{number} passage{'' if count == 1 else 's'}"
