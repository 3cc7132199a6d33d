"""The passages that the retrievals of an answer read, with and without exclusion."""

from collections.abc import Callable, Iterable, Sequence

from scaar.core.errors import ScaarError
from scaar.core.filters import newest_excluded
from scaar.core.policies.settings import MAX_TOP_K
from scaar.core.ports import Retriever
from scaar.core.text.fusion import DEPTH, fuse
from scaar.core.types import ReadPassage, RetrievedPassage, RetrieveRequest
from scaar.evaluator.studies.queries.formulations import Exclusion, FormulationVariant
from scaar.evaluator.studies.queries.records import CUTS, Reading

_BATCH = 500
"""Maximum number of queries of a request."""

Queries = tuple[str, ...]
"""The queries of a retrieval, whose results are fused; none if the sentence was refused."""
Formulate = Callable[[Sequence[ReadPassage]], Queries]
"""Returns the queries of a retrieval after the passages that the answer has read."""
Ids = tuple[str, ...]
Passages = tuple[RetrievedPassage, ...]


class Searches:
    """The searches of one index; equal ones are sent once.

    The retriever receives the exclusions, as from the answering loop.
    """

    def __init__(self, retriever: Retriever, index: str, version: str, *, depth: int) -> None:
        """``depth`` is the number of passages of a search without exclusion."""
        self._retriever = retriever
        self._index = index
        self._version = version
        self._depth = depth
        self._results: dict[str, Passages] = {}
        self._unseen: dict[tuple[Queries, int, Ids], Passages] = {}

    async def prepare(self, queries: Iterable[str]) -> None:
        """Search for queries together, which is faster than one by one in :meth:`first`."""
        different = tuple(dict.fromkeys(each for each in queries if each not in self._results))
        for start in range(0, len(different), _BATCH):
            some = different[start : start + _BATCH]
            found = await self._retrieve(RetrieveRequest(some, self._depth, self._index))
            self._results.update(zip(some, found, strict=True))

    async def first(self, queries: Queries, count: int) -> Passages:
        """Return the first ``count`` passages, at most ``depth`` of a query."""
        await self.prepare(queries)
        return _merged([self._results[each] for each in queries], count)

    async def unseen(self, queries: Queries, count: int, seen: Sequence[str]) -> Passages:
        """Return the first ``count`` passages that are not among the ``seen``."""
        if not queries or not seen:
            return await self.first(queries, count)
        excluded = newest_excluded(seen)
        key = (queries, count, excluded)
        if key not in self._unseen:
            depth = max(count, DEPTH) if len(queries) > 1 else count
            request = RetrieveRequest(queries, depth, self._index, excluded_ids=excluded)
            self._unseen[key] = _merged(await self._retrieve(request), count)
        return self._unseen[key]

    async def _retrieve(self, request: RetrieveRequest) -> Sequence[Passages]:
        result = await self._retriever.retrieve(request)
        if result.version != self._version:
            raise ScaarError(f"the index {self._index!r} changed during the run; run it again")
        return result.results


def _merged(results: Sequence[Passages], count: int) -> Passages:
    if len(results) == 1:
        return results[0][:count]
    return fuse([each[: max(count, DEPTH)] for each in results], count)


def depth_for(retrievals: int, variant: FormulationVariant) -> int:
    """Return the number of passages of each query that an answer of a variant may need.

    The first ``retrievals * cut`` passages of any query are as many as the retrievals of ``cut``
    passages read with exclusion.
    """
    if variant.exclusion is not Exclusion.MATCHED_DEPTH:
        return CUTS[-1] + variant.extra
    return min(MAX_TOP_K, CUTS[-1] * max(1, retrievals))


async def read_answer(
    searches: Searches,
    answer: Sequence[Formulate],
    variant: FormulationVariant,
    supports: Sequence[str],
) -> tuple[tuple[tuple[Queries, Reading], ...], ...]:
    """Return queries and reading at each of the ``CUTS`` for every retrieval of an answer."""
    by_cut = []
    for cut in CUTS:
        read = await _read(searches, answer, variant, cut)
        unlimited = [await searches.first(queries, cut) for queries, _ in read]
        readings = _readings([_ids(found) for _, found in read], supports, map(_ids, unlimited))
        by_cut.append([(queries, each) for (queries, _), each in zip(read, readings, strict=True)])
    return tuple(zip(*by_cut, strict=True))


_Read = list[tuple[Queries, Passages]]
"""The queries of each retrieval of an answer, and the passages that it reads."""


async def _read(
    searches: Searches, answer: Sequence[Formulate], variant: FormulationVariant, cut: int
) -> _Read:
    if variant.exclusion is Exclusion.NONE:
        return await _read_at(searches, answer, cut + variant.extra)
    unseen = await _read_at(searches, answer, cut, exclude=True)
    if variant.exclusion is Exclusion.SEEN:
        return unseen
    wanted, deeper = _distinct(unseen), unseen
    for depth in range(cut, depth_for(len(answer), variant) + 1):
        deeper = await _read_at(searches, answer, depth)
        if _distinct(deeper) >= wanted:
            break
    return deeper


async def _read_at(
    searches: Searches, answer: Sequence[Formulate], count: int, *, exclude: bool = False
) -> _Read:
    """Read ``count`` passages a retrieval; with ``exclude``, none that was already read."""
    read, known = _Read(), dict[str, RetrievedPassage]()
    for formulate in answer:
        queries = formulate(ReadPassage.newest(known.values()))
        if exclude:
            found = await searches.unseen(queries, count, tuple(known))
        else:
            found = await searches.first(queries, count)
        read.append((queries, found))
        for each in found:
            known.setdefault(each.id, each)
    return read


def _ids(passages: Passages) -> Ids:
    return tuple(each.id for each in passages)


def _distinct(read: _Read) -> int:
    return len({each.id for _, found in read for each in found})


def _readings(
    read: Sequence[Ids], supports: Sequence[str], unlimited: Iterable[Ids]
) -> list[Reading]:
    """Return the readings; ``unlimited`` has the results at the cut without exclusion."""
    seen: set[str] = set()
    readings = []
    for ids, would in zip(read, unlimited, strict=True):
        ranks = {each: rank for rank, each in enumerate(ids, 1)}
        withheld = (set(would) & seen & set(supports)) - ranks.keys()
        readings.append(
            Reading(
                ranks=tuple(ranks.get(each, 0) for each in supports),
                passages=len(ids),
                fresh=len(ranks.keys() - seen),
                withheld=len(withheld),
            )
        )
        seen |= ranks.keys()
    return readings
