"""Whether an index has the passages that questions name as their supports."""

import asyncio
from collections.abc import Sequence

from scaar.compose import EMBEDDED, indexes_are_local, scaar_home
from scaar.core.ports import Retriever
from scaar.evaluator.queries.checks import check_ids, probe_index
from scaar.evaluator.records import Question


async def check_index(
    retriever: Retriever, index: str, questions: Sequence[Question], target: str
) -> None:
    """Passes an index that has the supports: told by its ids where it lies here, else by a probe.

    Raises:
        InvalidRequest: it lacks them; naming the first.
    """
    if target == EMBEDDED and indexes_are_local():
        ids = await asyncio.to_thread(_ids_of, index)
        check_ids(questions, ids, index=index)
    else:
        await probe_index(retriever, index, questions)


def _ids_of(index: str) -> frozenset[str]:
    from scaar.retriever.index_cache import IndexCache
    from scaar.retriever.index_files import IndexFiles
    from scaar.retriever.settings import RetrieverSettings

    folder = RetrieverSettings.read().indexes or scaar_home() / "indexes"
    cache = IndexCache(IndexFiles(folder), capacity=1, checksums=False)
    return frozenset(passage.id for passage in cache.get(index).passages())
