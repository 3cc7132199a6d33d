"""The check that an index can serve the policies of an answer."""

from collections.abc import Iterable

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.policies.requirements import needs_cosines, needs_reranker, needs_search_mode
from scaar.core.search_stages import require_mode, require_reranker
from scaar.core.types import IndexDescription, PolicyRequest, SearchMode, VectorMetric


def require_named(index: str) -> str:
    """Pass the name of an index: that of the request, or of the default index.

    Raises:
        InvalidRequest: the name is empty: neither names an index.
    """
    if not index:
        setting = "SCAAR_ORCHESTRATOR_DEFAULT_INDEX"
        text = f"must name an index: this orchestrator has no default index ({setting})"
        raise InvalidRequest.of("index", text)
    return index


def needs_kind(policy: PolicyRequest) -> bool:
    """Return whether the policy needs an index or a retriever of some kind."""
    by_mode = needs_search_mode(policy) is not SearchMode.INDEX
    return by_mode or needs_cosines(policy) or needs_reranker(policy)


def check_index(policies: Iterable[PolicyRequest], index: IndexDescription) -> None:
    """Reject policies that search in a mode, rerank or rank by cosines, if the index cannot.

    Raises:
        CapabilityMissing: names the first policy, and what it needs.
    """
    for each in policies:
        if needs_cosines(each):
            _require_cosines(each, index)
        require_mode(needs_search_mode(each), index)
        if needs_reranker(each):
            require_reranker(index)


def _require_cosines(policy: PolicyRequest, index: IndexDescription) -> None:
    dense = index.dense
    if dense is not None and dense.settings.metric is VectorMetric.INNER_PRODUCT:
        return
    kind = "an index by BM25" if dense is None else "an index of vectors by distance"
    raise CapabilityMissing(
        f"policy {policy.label} ranks passages by angles and needs an index of vectors by "
        f"inner product, and {index.name!r} is {kind}: name another index, or set "
        "policy.fusion to rank",
        policy=policy.label,
        missing="vector_index",
    )
