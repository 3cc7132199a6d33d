"""``scaar up`` with a model server and a folder of documents."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.environment import settings_in_environment
from scaar.cli.index.document_options import WATCH_EVERY_S, DocumentOptions
from scaar.cli.index.documents import DocumentIndex
from scaar.cli.index.folder_index import folder_vectors, read_folder_index_name
from scaar.compose import EMBEDDED, index_place
from scaar.core.errors import InvalidRequest
from scaar.core.ports import IndexKeeper
from scaar.core.validation import check_index_name
from scaar.retriever.documents.files import check_roots
from scaar.retriever.documents.urls import check_prefix

ModelUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="OpenAI-compatible model server, such as http://127.0.0.1:8000: sets "
        "SCAAR_GENERATOR_ENGINE=openai and SCAAR_GENERATOR_URL.",
    ),
]
Documents = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of documents: an index of them is built, refreshed on changes, and the "
        "default index of the gateway. Without --model, --model-url and settings, the model is the "
        "catalogue's for documents.",
    ),
]
Index = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With --documents: name of the index. Default: the name of the folder in lower case, "
        "with a hyphen for other characters; a digest of its path follows if an index of other "
        "documents has this name.",
    ),
]
UrlPrefix = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="With --documents: URL of the folder, to which citations link."
    ),
]


class UpDocuments:
    """The index of a folder of documents, built and kept up to date while the services run."""

    def __init__(self, name: str, options: DocumentOptions, *, hybrid: bool | None = None) -> None:
        """``hybrid``: see :func:`~scaar.cli.index.folder_index.folder_vectors`."""
        self.name = name
        self._options = options
        self._hybrid = hybrid

    @asynccontextmanager
    async def kept_current(self, indexes: IndexKeeper) -> AsyncIterator[None]:
        """Build or refresh the index, then refresh it on changes during the block."""
        # The port of the services may change, their indexes are those of the settings.
        documents = DocumentIndex(self.name, self._options, indexes, index_place())
        seen = await documents.state()
        dense = await folder_vectors(self.name, indexes, EMBEDDED, hybrid=self._hybrid)
        await documents.refresh(dense=dense)
        watching = asyncio.create_task(documents.watch(every_s=WATCH_EVERY_S, seen=seen))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait({watching})


def up_documents(
    folder: Path | None, *, index: str | None, url_prefix: str | None, hybrid: bool | None = None
) -> UpDocuments | None:
    """Return the documents of the options; None without ``--documents``.

    Raises:
        InvalidRequest: an option is invalid, or requires ``--documents``.
    """
    if folder is None:
        of_index = "--hybrid" if hybrid else "--words"
        options = {"--index": index, "--url-prefix": url_prefix, of_index: hybrid}
        for option, given in options.items():
            if given is not None:
                raise InvalidRequest.of(option, "requires --documents")
        return None
    roots = check_roots([folder], option="--documents")
    if index is not None:
        check_index_name(index, field="--index")
    name = index or read_folder_index_name(roots[0])
    prefix = check_prefix(url_prefix) if url_prefix is not None else ""
    return UpDocuments(name, DocumentOptions(roots, url_prefix=prefix), hybrid=hybrid)


@contextmanager
def settings_of(model_url: str | None, documents: UpDocuments | None) -> Iterator[None]:
    """Set the environment of the services for the options, during the block."""
    settings: dict[str, str] = {}
    if model_url is not None:
        settings |= {"SCAAR_GENERATOR_ENGINE": "openai", "SCAAR_GENERATOR_URL": model_url}
    if documents is not None:
        settings["SCAAR_ORCHESTRATOR_DEFAULT_INDEX"] = documents.name
    with settings_in_environment(settings):
        yield
