"""The folder of documents that a question is answered from."""

from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.index.document_options import DocumentOptions
from scaar.cli.index.documents import DocumentIndex
from scaar.cli.index.folder_index import folder_index_name, folder_vectors
from scaar.cli.notes import print_notes
from scaar.compose import index_place, missing_scorer, open_indexes
from scaar.compose.targets import EMBEDDED
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.policies.requirements import needs_scorer
from scaar.core.types import PolicyRequest
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.retriever.documents.files import check_roots

Documents = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of documents to answer from. It is indexed first, and then again only what "
        "changed. Without --model and settings, the model is the catalogue's for documents.",
    ),
]


class AskedDocuments:
    """A folder of documents, and the name of its index if one is given."""

    def __init__(self, folder: Path, name: str | None, *, hybrid: bool | None = None) -> None:
        """Check the folder. ``hybrid``: :func:`~scaar.cli.index.folder_index.folder_vectors`.

        Raises:
            InvalidRequest: the folder does not exist.
        """
        self._roots = check_roots([folder], option="--documents")
        self._name = name
        self._hybrid = hybrid

    async def index(self) -> str:
        """Bring the index of the folder up to date, and return its name.

        Progress is on standard error. Documents that cannot be read are named there, and the others
        are indexed.
        """
        target = OrchestratorSettings.read().retriever_target
        place = index_place(target)
        async with open_indexes(target) as indexes:
            name = self._name or await folder_index_name(self._roots[0], indexes, place)
            options = DocumentOptions(self._roots)
            documents = DocumentIndex(name, options, indexes, place, on_refreshed=print_notes)
            dense = await folder_vectors(name, indexes, target, hybrid=self._hybrid)
            await documents.refresh(dense=dense)
        return name


def check_scorer_installed(policy: PolicyRequest) -> None:
    """Check that a policy has the scorer that it needs, before a model is downloaded for it.

    Raises:
        CapabilityMissing: it has none; says what to install.
    """
    if OrchestratorSettings.read().scorer_target != EMBEDDED or not needs_scorer(policy):
        return
    if missing := missing_scorer():
        raise CapabilityMissing(f"policy {policy.label}: {missing.message}")


def check_options(
    address: str | None,
    *,
    documents: Path | None,
    hybrid: bool | None,
    model: str | None,
    yes: bool,
    offline: bool,
) -> None:
    """Check the options of a model and of documents, which a running orchestrator has its own of.

    Raises:
        InvalidRequest: an option is given with ``--address``, or lacks the one it belongs to.
    """
    given = {"--documents": documents is not None, "--model": model is not None}
    for option, is_given in given.items():
        if is_given and address not in (None, EMBEDDED):
            raise InvalidRequest.of(option, "cannot be combined with --address")
    if hybrid is not None and documents is None:
        raise InvalidRequest.of("--hybrid" if hybrid else "--words", "requires --documents")
    for option, is_given in (("--yes", yes), ("--offline", offline)):
        if is_given and not any(given.values()):
            raise InvalidRequest.of(option, "requires --documents or --model")
