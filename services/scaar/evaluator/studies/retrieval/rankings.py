"""Rankings of passages for topics, deeper than one search returns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.core.filters import MAX_CHARACTERS_TOGETHER, MAX_EXCLUDED
from scaar.core.policies.settings import MAX_TOP_K
from scaar.core.ports import Retriever
from scaar.core.search_stages import require_mode
from scaar.core.types import (
    HybridSettings,
    IndexDescription,
    RerankSettings,
    RetrieveRequest,
    SearchMode,
)
from scaar.evaluator.studies.retrieval.topics import Topic

MAX_DEPTH = 1_000
"""Maximum number of passages of a ranking, as in TREC's runs."""

MAX_STAGED_DEPTH = MAX_TOP_K
"""Maximum number of passages of a hybrid or reranked ranking, which one search returns."""

Ranking = tuple[str, ...]
"""Ids of passages, best first."""


@dataclass(frozen=True, slots=True)
class Stages:
    """How an index is searched: the settings of the requests of that name."""

    mode: SearchMode = SearchMode.INDEX
    hybrid: HybridSettings | None = None
    rerank: RerankSettings | None = None


AS_BUILT = Stages()


def default_depth(index: IndexDescription, stages: Stages) -> int:
    """Return the greatest depth of a ranking of the index by these stages."""
    mode = index.modes[-1] if stages.mode is SearchMode.INDEX else stages.mode
    one_search = mode is SearchMode.HYBRID or stages.rerank is not None
    return MAX_STAGED_DEPTH if one_search else MAX_DEPTH


async def rank(
    retriever: Retriever,
    index: str,
    topics: Sequence[Topic],
    *,
    depth: int,
    stages: Stages = AS_BUILT,
    on_ranked: Callable[[Topic], object] = lambda _: None,
) -> dict[str, Ranking]:
    """Return the best ``depth`` passages of an index for each topic, by its id.

    A search returns at most 100 passages: further ones exclude the passages found before, which
    changes neither their scores nor their order. It would change both of a hybrid or reranked
    search, whose rankings are of one search. ``on_ranked`` is called after each topic.

    Raises:
        InvalidRequest: the depth is not 1 to 1,000, or 100 for a hybrid or reranked search, or the
            ids of the passages found are too long for the exclusions of a search.
        CapabilityMissing: the index or its retriever does not have the stages.
    """
    check_depth(depth)
    described = await retriever.describe_index(index)
    require_mode(stages.mode, described)
    if depth > (most := default_depth(described, stages)):
        text = f"must be at most {most} for a hybrid or reranked search, not {depth:,}"
        raise InvalidRequest.of("depth", text)
    found: dict[str, Ranking] = {}
    for topic in topics:
        found[topic.id] = await _ranking(retriever, index, topic.query, depth, stages)
        on_ranked(topic)
    return found


def check_depth(depth: int) -> None:
    """Check the number of passages of a ranking.

    Raises:
        InvalidRequest: it is not 1 to 1,000.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise InvalidRequest.of("depth", f"must be 1 to {MAX_DEPTH:,}, not {depth:,}")


async def _ranking(
    retriever: Retriever, index: str, query: str, depth: int, stages: Stages
) -> Ranking:
    found: list[str] = []
    while len(found) < depth:
        _check_excluded(found)
        wanted = min(MAX_TOP_K, depth - len(found))
        request = RetrieveRequest(
            (query,),
            wanted,
            index,
            excluded_ids=tuple(found),
            mode=stages.mode,
            hybrid=stages.hybrid,
            rerank=stages.rerank,
        )
        passages = (await retriever.retrieve(request)).results[0]
        found += [passage.id for passage in passages]
        if len(passages) < wanted:
            break
    return tuple(found)


def _check_excluded(ids: Sequence[str]) -> None:
    if len(ids) > MAX_EXCLUDED or sum(map(len, ids)) > MAX_CHARACTERS_TOGETHER:
        text = f"must be at most {len(ids)}: the ids of more passages are too long for a search"
        raise InvalidRequest.of("depth", text)
