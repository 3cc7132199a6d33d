"""Options of indexes that are built from folders of documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from scaar import __version__
from scaar.core.errors import InvalidRequest
from scaar.retriever.documents.document import ReadingLimits
from scaar.retriever.documents.files import FoundFile, check_roots
from scaar.retriever.documents.reading import DocumentFolders
from scaar.retriever.documents.splitting import PASSAGE_WORDS
from scaar.retriever.documents.urls import check_prefix

MIN_WORDS, MAX_WORDS = 10, 2_000
WATCH_EVERY_S, MIN_WATCH_S, MAX_WATCH_S = 2.0, 0.1, 3_600
MAX_FILE_MB, LARGEST_FILE_MB = 50.0, 1_000.0

From = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="PATH",
        help="Folder of documents, or one document: Markdown, HTML, plain text, PDF, docx; "
        "repeatable. The same command again indexes what changed and removes what was deleted.",
    ),
]
PassageWords = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=MIN_WORDS,
        max=MAX_WORDS,
        help=f"With --from: maximum number of words of a passage. Default: {PASSAGE_WORDS}.",
    ),
]
UrlPrefix = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="With --from: URL of the folder. The URL of a document, to which citations link, is "
        "this and its path, unless the document states its own.",
    ),
]
MaxFileMb = Annotated[
    float | None,
    typer.Option(
        metavar="MB",
        min=0.001,
        max=LARGEST_FILE_MB,
        help=f"With --from: maximum size of a file, in megabytes. Default: {MAX_FILE_MB:g}.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="With --from: index nothing if a file cannot be read. By default the others are "
        "indexed, and the exit status is 1.",
    ),
]
Watch = Annotated[
    bool,
    typer.Option("--watch", help="With --from: refresh the index on changes, until Ctrl-C."),
]
WatchEvery = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=MIN_WATCH_S,
        max=MAX_WATCH_S,
        help=f"With --watch: time between two checks for changes, in seconds. Default: "
        f"{WATCH_EVERY_S:g}.",
    ),
]


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The documents of an index, and how they are read."""

    roots: tuple[Path, ...]
    words: int = PASSAGE_WORDS
    url_prefix: str = ""
    max_file_mb: float = MAX_FILE_MB
    strict: bool = False
    watch_every_s: float | None = None
    """None: the documents are read once."""

    def folders(self) -> DocumentFolders:
        """Return the folders to read."""
        limits = ReadingLimits(file_bytes=int(self.max_file_mb * 1e6))
        return DocumentFolders(
            self.roots, words=self.words, url_prefix=self.url_prefix, limits=limits
        )

    def digest(self, files: Sequence[FoundFile]) -> str:
        """Return a digest of files, their sizes and times, and of how they are read."""
        how = (__version__, self.words, self.url_prefix, self.max_file_mb)
        what = [(str(file.path), file.size_bytes, file.changed_ns) for file in files]
        return sha256(repr((how, what)).encode()).hexdigest()


def document_options(
    paths: list[Path] | None,
    *,
    passage_words: int | None = None,
    url_prefix: str | None = None,
    max_file_mb: float | None = None,
    strict: bool = False,
    watch: bool = False,
    watch_every: float | None = None,
) -> DocumentOptions | None:
    """Return the options of documents; None without ``--from``.

    Raises:
        InvalidRequest: a path or the prefix is invalid, or an option lacks the one it belongs to.
    """
    if watch_every is not None and not watch:
        raise InvalidRequest.of("--watch-every", "requires --watch")
    if not paths:
        given = {
            "--passage-words": passage_words is not None,
            "--url-prefix": url_prefix is not None,
            "--max-file-mb": max_file_mb is not None,
            "--strict": strict,
            "--watch": watch,
        }
        if option := next((name for name, is_given in given.items() if is_given), None):
            raise InvalidRequest.of(option, "requires --from")
        return None
    every_s = (watch_every or WATCH_EVERY_S) if watch else None
    return DocumentOptions(
        check_roots(paths),
        words=passage_words or PASSAGE_WORDS,
        url_prefix=check_prefix(url_prefix) if url_prefix is not None else "",
        max_file_mb=max_file_mb or MAX_FILE_MB,
        strict=strict,
        watch_every_s=every_s,
    )
