"""Passages by the names that a reader knows: file and headings, else title, else id."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from scaar.core.text.passage_source import BETWEEN, source_text
from scaar.core.types import Passage, PassagesRetrieved, RetrievedPassage

_LONG = 60
"""Characters above which a name is shortened in lists."""
_NUMBERS = "no one two three four five six seven eight nine ten".split()


def name_of(passage: Passage | RetrievedPassage) -> str:
    """Return file, headings and page of a passage of a document; of another one the title."""
    return source_text(passage) or passage.title or passage.id


def short_name(name: str) -> str:
    """Return a name that is long with its file and its last heading alone."""
    parts = name.split(BETWEEN)
    if len(name) <= _LONG or len(parts) < 3:
        return name
    file = parts[0].rpartition("/")[2]
    return BETWEEN.join((file, "…", parts[-1]))


@dataclass(frozen=True, slots=True)
class PassageLink:
    """The name of a passage, and the path of its page; empty for one that is not known."""

    name: str
    path: str = ""


class PassageNames:
    """The names of the passages that an answer has retrieved."""

    def __init__(self) -> None:
        self._links: dict[str, PassageLink] = {}

    def add(self, event: PassagesRetrieved) -> None:
        """Take up the passages of a search."""
        for passage in event.passages:
            path = passage_path(event.index, passage.id)
            self._links[passage.id] = PassageLink(name_of(passage), path)

    def of(self, ids: Iterable[str]) -> tuple[PassageLink, ...]:
        """Return the passages by their names, each name once; one that is not known by its id."""
        links = dict[str, PassageLink]()
        for passage_id in ids:
            link = self._links.get(passage_id, PassageLink(passage_id))
            links.setdefault(link.name, link)
        return tuple(links.values())


def passage_path(index: str, passage_id: str) -> str:
    """Return the path of the page of a passage."""
    return f"/passages/{quote(index, safe='')}/{quote(passage_id, safe='')}"


def passages_text(count: int) -> str:
    """Return a number of passages in words: ``three passages``."""
    number = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return f"{number} passage{'' if count == 1 else 's'}"
