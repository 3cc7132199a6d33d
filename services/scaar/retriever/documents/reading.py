"""Reading of folders of documents as passages, with the errors of single files."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from scaar.core.types import Passage
from scaar.retriever.documents.document import DocumentUnreadable, ReadingLimits
from scaar.retriever.documents.files import FileError, FoundFile, find_files
from scaar.retriever.documents.isolation import IsolatedReader
from scaar.retriever.documents.splitting import PASSAGE_WORDS, split_document
from scaar.retriever.documents.urls import document_url

_DEFAULT_LIMITS = ReadingLimits()


@dataclass(slots=True)
class ReadFolder:
    """What was read below the roots: the passages of each root, with unique ids."""

    passages: dict[Path, list[Passage]] = field(default_factory=dict)
    errors: list[FileError] = field(default_factory=list)
    unsupported: Counter[str] = field(default_factory=Counter)
    files: int = 0

    def __iter__(self) -> Iterator[Passage]:
        for passages in self.passages.values():
            yield from passages


class DocumentFolders:
    """Files and folders of documents, read as often as they change.

    A file whose size and time of change stay the same is not read again.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        words: int = PASSAGE_WORDS,
        url_prefix: str = "",
        limits: ReadingLimits = _DEFAULT_LIMITS,
    ) -> None:
        self.roots = tuple(roots)
        self._words = words
        self._url_prefix = url_prefix
        self._limits = limits
        self._reader = IsolatedReader(limits)
        self._known: dict[FoundFile, tuple[Passage, ...] | FileError] = {}

    def state(self) -> tuple[FoundFile, ...]:
        """Return the files with their sizes and times, which differ after any change."""
        return tuple(find_files(self.roots).files)

    def read(self, on_file: Callable[[FoundFile], None] = lambda file: None) -> ReadFolder:
        """Return all passages, in the order of the files.

        Passages of the same source and text get the suffixes ``-2``, ``-3`` and so on.

        Raises:
            CapabilityMissing: the library of a format is not installed.
        """
        found = find_files(self.roots)
        result = ReadFolder(
            {root: [] for root in self.roots}, list(found.errors), found.unsupported
        )
        copies = Counter[str]()
        known: dict[FoundFile, tuple[Passage, ...] | FileError] = {}
        try:
            for file in found.files:
                on_file(file)
                read = known[file] = self._known.get(file) or self._read(file)
                if isinstance(read, FileError):
                    result.errors.append(read)
                    continue
                result.files += 1
                result.passages[file.root] += (_numbered(passage, copies) for passage in read)
        finally:
            self.close()
        self._known = known
        return result

    def close(self) -> None:
        """End the process that reads a document, also from another thread."""
        self._reader.close()

    def _read(self, file: FoundFile) -> tuple[Passage, ...] | FileError:
        try:
            content = self._content(file)
            document = self._reader.read(file.path.suffix.lower(), content)
        except DocumentUnreadable as error:
            return FileError(file.path, str(error))
        except OSError as error:
            return FileError(file.path, f"cannot be read: {error.strerror or error}")
        url = document_url(document.url, self._url_prefix, file.source)
        passages = split_document(
            document, file.source, name=file.path.stem, url=url, words=self._words
        )
        return tuple(passages) or FileError(file.path, "has no text")

    def _content(self, file: FoundFile) -> bytes:
        most = self._limits.file_bytes
        with file.path.open("rb") as opened:
            content = opened.read(most + 1)
        if len(content) > most:
            raise DocumentUnreadable(f"is larger than {most / 1e6:g} MB (--max-file-mb)")
        return content


def _numbered(passage: Passage, copies: Counter[str]) -> Passage:
    copies[passage.id] += 1
    number = copies[passage.id]
    return passage if number == 1 else replace(passage, id=f"{passage.id}-{number}")
