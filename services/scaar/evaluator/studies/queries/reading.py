"""The passages that the retrievals of an answer read, with and without exclusion."""

from collections.abc import Iterable, Sequence

from scaar.core.errors import ScaarError
from scaar.core.filters import newest_excluded
from scaar.core.policies.settings import MAX_TOP_K
from scaar.core.ports import Retriever
from scaar.core.text.fusion import DEPTH, fuse
from scaar.core.types import RetrievedPassage, RetrieveRequest
from scaar.evaluator.studies.queries.formulations import Exclusion, FormulationVariant
from scaar.evaluator.studies.queries.records import CUTS, Reading

_BATCH = 500
"""Maximum number of queries of a request."""

Queries = tuple[str, ...]
"""The queries of a retrieval, whose results are fused; none if the sentence was refused."""
Ids = tuple[str, ...]


class Searches:
    """The searches of one index; equal ones are sent once.

    The retriever receives the exclusions, as from the answering loop.
    """

    def __init__(self, retriever: Retriever, index: str, version: str) -> None:
        self._retriever = retriever
        self._index = index
        self._version = version
        self._results: dict[str, tuple[RetrievedPassage, ...]] = {}
        self._unseen: dict[tuple[Queries, int, Ids], Ids] = {}

    async def prepare(self, queries: Iterable[str], *, depth: int) -> None:
        """Search for ``depth`` passages of each query, for :meth:`first`."""
        different = tuple(dict.fromkeys(queries))
        for start in range(0, len(different), _BATCH):
            some = different[start : start + _BATCH]
            found = await self._retrieve(RetrieveRequest(some, depth, self._index))
            self._results.update(zip(some, found, strict=True))

    def first(self, queries: Queries, count: int) -> Ids:
        """Return the first ``count`` passages of prepared queries."""
        return _merged([self._results[each] for each in queries], count)

    async def unseen(self, queries: Queries, count: int, seen: Sequence[str]) -> Ids:
        """Return the first ``count`` passages that are not among the ``seen``."""
        if not queries or not seen:
            return self.first(queries, count)
        excluded = newest_excluded(seen)
        key = (queries, count, excluded)
        if key not in self._unseen:
            depth = max(count, DEPTH) if len(queries) > 1 else count
            request = RetrieveRequest(queries, depth, self._index, excluded_ids=excluded)
            self._unseen[key] = _merged(await self._retrieve(request), count)
        return self._unseen[key]

    async def _retrieve(self, request: RetrieveRequest) -> Sequence[tuple[RetrievedPassage, ...]]:
        result = await self._retriever.retrieve(request)
        if result.version != self._version:
            raise ScaarError(f"the index {self._index!r} changed during the run; run it again")
        return result.results


def _merged(results: Sequence[tuple[RetrievedPassage, ...]], count: int) -> Ids:
    if len(results) == 1:
        return tuple(each.id for each in results[0][:count])
    fused = fuse([each[: max(count, DEPTH)] for each in results], count)
    return tuple(each.id for each in fused)


def depth_for(answer: Sequence[Queries], variant: FormulationVariant) -> int:
    """Return the number of passages of each query that a variant may need.

    The first ``len(answer) * cut`` passages of any query are as many as ``len(answer)`` retrievals
    of ``cut`` passages read with exclusion.
    """
    if variant.exclusion is not Exclusion.MATCHED_DEPTH:
        return CUTS[-1] + variant.extra
    return min(MAX_TOP_K, CUTS[-1] * max(1, len(answer)))


async def read_answer(
    searches: Searches,
    answer: Sequence[Queries],
    variant: FormulationVariant,
    supports: Sequence[str],
) -> tuple[tuple[Reading, ...], ...]:
    """Return the readings at each of the ``CUTS`` for every retrieval of an answer, in order."""
    by_cut = [
        _readings(
            await _read(searches, answer, variant, cut),
            supports,
            unlimited=[searches.first(each, cut) for each in answer],
        )
        for cut in CUTS
    ]
    return tuple(zip(*by_cut, strict=True))


async def _read(
    searches: Searches, answer: Sequence[Queries], variant: FormulationVariant, cut: int
) -> list[Ids]:
    if variant.exclusion is Exclusion.NONE:
        return [searches.first(each, cut + variant.extra) for each in answer]
    seen: dict[str, None] = {}
    unseen = []
    for each in answer:
        unseen.append(await searches.unseen(each, cut, tuple(seen)))
        seen.update(dict.fromkeys(unseen[-1]))
    if variant.exclusion is Exclusion.SEEN:
        return unseen
    deeper = unseen
    for depth in range(cut, depth_for(answer, variant) + 1):
        deeper = [searches.first(each, depth) for each in answer]
        if len(set().union(*deeper)) >= len(seen):
            break
    return deeper


def _readings(
    read: Sequence[Ids], supports: Sequence[str], *, unlimited: Sequence[Ids]
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
