"""Bringing an index up to date with the documents that it was built from."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from scaar.core.errors import AlreadyExists, InvalidRequest, NotFound
from scaar.core.ports import IndexKeeper
from scaar.core.types import (
    DOCUMENT_FIELDS,
    DenseSettings,
    IndexDescription,
    IndexMode,
    Passage,
)
from scaar.retriever.dense import unchanged_dense
from scaar.retriever.documents.ledger import Digests, Ledger, LedgerFile, digests_of
from scaar.retriever.documents.reading import ReadFolder

_DELETED_AT_ONCE = 50_000
"""Maximum number of ids in one request."""


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """The index after a refresh, and the number of passages by what happened to them."""

    index: IndexDescription
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0


async def refresh_index(
    indexes: IndexKeeper,
    name: str,
    read: ReadFolder,
    file: LedgerFile,
    *,
    mode: IndexMode = IndexMode.CREATE,
    dense: DenseSettings | None = None,
    state: str = "",
) -> RefreshResult:
    """Build an index from documents, or take up what changed in them since the last refresh.

    ``state`` is the digest of the files by which :func:`unchanged_index` knows them; empty if they
    are to be read again.

    The mode ``CREATE`` changes an index that earlier refreshes have built, and refuses another one;
    ``UPSERT`` adds the documents to any index; ``REPLACE`` builds the index from scratch. New and
    changed passages are stored before old ones are deleted. If either step fails, the next refresh
    completes it.

    Raises:
        AlreadyExists: the mode is ``CREATE``, and the index was not built from documents by this
            machine.
        InvalidRequest: there is no passage, or the index does not declare the fields of documents,
            or has no vectors or others than ``dense``.
    """
    passages = list(read)
    if not passages:
        places = ", ".join(map(str, read.passages))
        raise InvalidRequest.of("documents", f"none with text is in {places}")
    wanted = {str(root): digests_of(found) for root, found in read.passages.items()}
    index = None if mode is IndexMode.REPLACE else await _existing(indexes, name)
    if index is None:
        result = await indexes.index_passages(
            name, _stream(passages), mode=mode, metadata_fields=DOCUMENT_FIELDS, dense=dense
        )
        file.write(Ledger(result.index.version, wanted, state))
        return RefreshResult(result.index, added=len(passages))
    ledger = file.read()
    if ledger is None:
        if mode is IndexMode.CREATE:
            text = "was not built from documents by this machine; --replace replaces it"
            raise AlreadyExists(f"the index {name!r} {text}, --upsert adds the documents to it")
        ledger = Ledger()
    unchanged_dense(name, index.dense, requested=dense)
    return await _change(indexes, index, passages, wanted, ledger, file, dense=dense, state=state)


async def unchanged_index(
    indexes: IndexKeeper, name: str, file: LedgerFile, state: str
) -> RefreshResult | None:
    """Return an index that the last refresh built from files of the same state; else None."""
    ledger = file.read()
    if ledger is None or not state or ledger.state != state:
        return None
    index = await _existing(indexes, name)
    if index is None or index.version != ledger.version:
        return None
    return RefreshResult(index, unchanged=len(_merged(ledger.roots.values())))


async def _change(
    indexes: IndexKeeper,
    index: IndexDescription,
    passages: list[Passage],
    wanted: dict[str, Digests],
    ledger: Ledger,
    file: LedgerFile,
    *,
    dense: DenseSettings | None,
    state: str,
) -> RefreshResult:
    others = {root: digests for root, digests in ledger.roots.items() if root not in wanted}
    before = _merged(ledger.roots[root] for root in wanted if root in ledger.roots)
    after = _merged(wanted.values())
    added = after.keys() - before.keys()
    changed = {each for each in after.keys() & before.keys() if after[each] != before[each]}
    removed = before.keys() - after.keys() - _merged(others.values()).keys()
    # After a change by another command, the passages of the record may be missing.
    is_known = ledger.version == index.version
    sent = [each for each in passages if not is_known or each.id in added or each.id in changed]
    if sent:
        result = await indexes.index_passages(
            index.name,
            _stream(sent),
            mode=IndexMode.UPSERT,
            metadata_fields=DOCUMENT_FIELDS,
            dense=dense,
        )
        index = result.index
        # If the deletion fails, the next refresh still knows what is left to delete.
        kept = {root: {**ledger.roots.get(root, {}), **wanted[root]} for root in wanted}
        file.write(Ledger(index.version, {**others, **kept}))
    if removed:
        ids = sorted(removed)
        for start in range(0, len(ids), _DELETED_AT_ONCE):
            await indexes.delete_passages(index.name, ids[start : start + _DELETED_AT_ONCE])
        index = await indexes.describe_index(index.name)
    file.write(Ledger(index.version, {**others, **wanted}, state))
    return RefreshResult(
        index, len(added), len(changed), len(removed), len(after) - len(added) - len(changed)
    )


async def _existing(indexes: IndexKeeper, name: str) -> IndexDescription | None:
    try:
        return await indexes.describe_index(name)
    except NotFound:
        return None


async def _stream(passages: list[Passage]) -> AsyncIterator[Passage]:
    for passage in passages:
        yield passage


def _merged(found: Iterable[Digests]) -> dict[str, str]:
    return {each: digest for digests in found for each, digest in digests.items()}
