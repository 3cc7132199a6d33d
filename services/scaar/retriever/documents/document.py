"""A document as its reader returns it: titled blocks of text under headings or on pages."""

from dataclasses import dataclass


class DocumentUnreadable(Exception):
    """A document cannot be read. The text completes the sentence that starts with its path."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a row of a table, an item of a list or a block of code.

    ``headings`` lead to it from the outermost one; ``page`` counts from 1.
    """

    text: str
    headings: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file, in reading order. Title and ``url`` are empty where it has none."""

    blocks: tuple[Block, ...]
    title: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits on what one file may take to read."""

    file_bytes: int = 50_000_000
    unpacked_bytes: int = 100_000_000
    """Of the XML that a docx unpacks to, and of the text of any document."""
    pages: int = 5_000
    seconds: float = 120.0
    memory_bytes: int = 4_000_000_000


class DocumentBuilder:
    """Collects blocks below headings of levels 1 to 6.

    A heading without any text or further heading below it becomes a block itself, so that its words
    can be found.
    """

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []
        self._blocks: list[Block] = []
        self._is_bare = False
        self.first_heading = ""
        """The first heading of level 1."""

    def heading(self, level: int, text: str) -> None:
        """Begin a section; it ends at the next heading of its level or of a lower number."""
        text = " ".join(text.split())
        if not text:
            return
        if self._is_bare and level <= self._headings[-1][0]:
            self._blocks.append(Block(self._headings[-1][1], self._path()))
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, text))
        self._is_bare = True
        if level == 1 and not self.first_heading:
            self.first_heading = text

    def block(self, text: str) -> None:
        """Add a block of text to the current section, unless it is blank."""
        if text.strip():
            self._blocks.append(Block(text, self._path()))
            self._is_bare = False

    def document(self, title: str = "", url: str = "") -> Document:
        """Return the document; its title defaults to the first heading of level 1."""
        if self._is_bare:
            self._blocks.append(Block(self._headings[-1][1], self._path()))
            self._is_bare = False
        title = " ".join(title.split()) or self.first_heading
        return Document(tuple(self._blocks), title, url.strip())

    def _path(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)
