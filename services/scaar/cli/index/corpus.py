"""``scaar corpus``: prepare files of passages for indexes, and count entities in texts."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.index.corpus_counts import count, lookup
from scaar.cli.output_file import write_passages
from scaar.core.errors import InvalidRequest
from scaar.core.plurals import counted
from scaar.retriever.corpus.corpus import CorpusFile
from scaar.retriever.corpus.splitter import PASSAGE_WORDS, split_document

app = typer.Typer(
    help="Prepare files of passages, and count entities in texts.", no_args_is_help=True
)
app.command("count")(count)
app.command("lookup")(lookup)

MAX_WORDS = 10_000


@app.callback()
def _corpus() -> None:
    """Prepare files of passages, and count entities in texts."""


@app.command("split")
def split(
    documents: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help='File of documents as JSON lines {"id", "title", "text", "metadata"}, plain or '
            "gzip.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="File for the passages, as JSON lines, compressed if the name ends in .gz. It "
            "must not exist.",
        ),
    ],
    words: Annotated[
        int, typer.Option(metavar="N", help="Maximum words in a passage, 1 to 10,000.")
    ] = PASSAGE_WORDS,
    ignore_metadata: Annotated[
        bool, typer.Option("--ignore-metadata", help="Do not copy the metadata of documents.")
    ] = False,
) -> None:
    """Split documents into passages of a number of words.

    Every passage keeps the title and the metadata of its document.
    """
    if not 1 <= words <= MAX_WORDS:
        raise InvalidRequest.of("--words", f"must be 1 to {MAX_WORDS:,}, not {words}")
    file = CorpusFile(documents, metadata=not ignore_metadata)
    passages = write_passages(
        out, (passage for document in file for passage in split_document(document, words=words))
    )
    print(f"{out}: {counted(passages, 'passage')} of {counted(file.passages, 'document')}")
