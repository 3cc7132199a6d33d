"""Checks that an index has the supporting passages of questions."""

import asyncio
from collections.abc import Sequence

from scaar.compose import EMBEDDED, indexes_are_local, scaar_home
from scaar.core.ports import Retriever
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.checks import check_ids, probe_index


async def check_index(
    retriever: Retriever, index: str, questions: Sequence[Question], target: str
) -> None:
    """Check that an index has the supporting passages: by its ids, or for a server by a probe.

    Raises:
        InvalidRequest: names the first missing passage.
    """
    if target == EMBEDDED and indexes_are_local():
        ids = await asyncio.to_thread(_ids_of, index)
        check_ids(questions, ids, index=index)
    else:
        await probe_index(retriever, index, questions)


def _ids_of(index: str) -> frozenset[str]:
    from scaar.retriever.local.cache import IndexCache
    from scaar.retriever.local.files import IndexFiles
    from scaar.retriever.settings import RetrieverSettings

    folder = RetrieverSettings.read().indexes or scaar_home() / "indexes"
    cache = IndexCache(IndexFiles(folder), capacity=1, checksums=False)
    return frozenset(passage.id for passage in cache.get(index).passages())
