"""The index of a folder of documents: its name where none is given, and whether it has vectors."""

import asyncio
import re
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.index.documents import ledger_of
from scaar.compose import EMBEDDED, can_index_vectors, index_place, open_indexes
from scaar.core.defaults.text_kinds import kind_of_name
from scaar.core.errors import NotFound
from scaar.core.ports import IndexKeeper
from scaar.core.types import DenseSettings, VectorMetric

Hybrid = Annotated[
    bool | None,
    typer.Option(
        "--hybrid/--words",
        help="With --documents: a new index has words and vectors, or only words, which is built "
        "faster and finds less. Default: --hybrid if an encoder is installed. An existing index "
        "keeps what it has.",
    ),
]

_OTHER_CHARACTERS = re.compile(r"[^a-z0-9]+")
_NAME_CHARACTERS = 40
_DIGEST_CHARACTERS = 8


def plain_name(root: Path) -> str:
    """Return the name of a folder in lower case, with a hyphen for other characters.

    A name of the lab's indexes gets an addition, since documents are not of the lab's world.
    """
    name = _OTHER_CHARACTERS.sub("-", root.name.lower())[:_NAME_CHARACTERS].strip("-")
    return f"{name}-documents" if kind_of_name(name) else name or "documents"


async def folder_index_name(root: Path, indexes: IndexKeeper, place: str) -> str:
    """Return the name of the index of a folder, given by its absolute path.

    It is the plain name, unless an index of this name has other passages than the folder's: then a
    digest of the path follows. The name stays the same as long as the index exists.
    """
    plain = plain_name(root)
    own = f"{plain}-{sha256(str(root).encode()).hexdigest()[:_DIGEST_CHARACTERS]}"
    for name in (own, plain):
        ledger = ledger_of(name, place).read()
        if ledger is not None and set(ledger.roots) == {str(root)}:
            return name
    return own if await _exists(indexes, plain) else plain


def read_folder_index_name(root: Path, target: str = EMBEDDED) -> str:
    """Return the name of a folder's index in the retriever at a target, without an event loop."""

    async def read() -> str:
        async with open_indexes(target) as indexes:
            return await folder_index_name(root, indexes, index_place(target))

    return asyncio.run(read())


async def folder_vectors(
    name: str, indexes: IndexKeeper, target: str, *, hybrid: bool | None
) -> DenseSettings | None:
    """Return the vectors of a folder's index in the retriever at a target.

    None for an index of words, and for the vectors that an existing index has. Without ``hybrid``,
    a new index has vectors if the retriever is this process and has an encoder.
    """
    if hybrid is None:
        embedded = target == EMBEDDED and can_index_vectors(name)
        hybrid = embedded and not await _exists(indexes, name)
    return DenseSettings(VectorMetric.INNER_PRODUCT, words=True) if hybrid else None


async def _exists(indexes: IndexKeeper, name: str) -> bool:
    try:
        await indexes.describe_index(name)
    except NotFound:
        return False
    return True
