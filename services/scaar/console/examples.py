"""Questions that suit an index, as examples: of its documents, or of the lab's fictional world."""

from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.errors import ScaarError
from scaar.core.ports import Catalog
from scaar.core.text.one_line import one_line
from scaar.core.types import HEADING_SEPARATOR, RetrievedPassage, SearchRequest

LAB_QUESTIONS = (
    "Who is the spouse of the director of the film The Velvet Statue?",
    "When was the film The Haunted Fountain released?",
)
_LAB = "lab"
_COUNT = 2
_LONGEST = 80
"""Characters of a heading above which it is no example."""
_QUERY = (
    "introduction overview guide question example use policy start change "
    "Einführung Übersicht Frage Beispiel Regelung"
)
"""Words of headings and first paragraphs, by which passages of any documents are found."""
_PASSAGES = 20


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions that an index can answer. ``index`` is its name, empty if it is unknown."""

    index: str = ""
    questions: tuple[str, ...] = ()
    of_documents: bool = False
    """Whether the index is one of files."""

    @property
    def of_lab(self) -> bool:
        """Whether the index is the lab's."""
        return self.index == _LAB and not self.of_documents


async def examples_of(catalog: Catalog, index: str) -> Examples:
    """Return questions for an index, for an empty name the default one; none if it has none."""
    try:
        found = await catalog.search(SearchRequest(_QUERY, index, _PASSAGES))
    except ScaarError:
        return Examples(index)
    of_documents = any(_field(passage, "source") for passage in found.passages)
    if found.index == _LAB and not of_documents:
        return Examples(found.index, LAB_QUESTIONS)
    return Examples(found.index, questions_about(found.passages), of_documents)


def questions_about(passages: Sequence[RetrievedPassage]) -> tuple[str, ...]:
    """Return two questions about passages, by their headings and if possible of two documents."""
    headings: dict[str, str] = {}
    for passage in passages:
        heading = _heading(passage)
        if heading and len(heading) <= _LONGEST:
            headings.setdefault(heading, _field(passage, "source"))
    first = list(headings)[:1]
    others = [heading for heading in headings if heading not in first]
    others.sort(key=lambda heading: headings[heading] == headings[first[0]])
    return tuple(map(_question, (first + others)[:_COUNT]))


def _question(heading: str) -> str:
    return heading if heading.endswith("?") else f"What is said about “{heading}”?"


def _heading(passage: RetrievedPassage) -> str:
    section = _field(passage, "section") or passage.title
    return one_line(section.rpartition(HEADING_SEPARATOR)[2], length=_LONGEST + 1).rstrip("¶ ")


def _field(passage: RetrievedPassage, name: str) -> str:
    values = next((field.values for field in passage.metadata if field.name == name), ())
    return values[0] if values else ""
