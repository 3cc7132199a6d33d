"""Stages of a search: the mode, the fusion of two rankings, and reranking. Limits and checks."""

import math
from collections.abc import Iterator

from scaar.core.errors import CapabilityMissing, InvalidRequest, Violation
from scaar.core.types import (
    HybridSettings,
    IndexDescription,
    RerankSettings,
    RetrieveRequest,
    SearchMode,
    SearchRequest,
)

MAX_RRF_K = 1_000
MAX_WEIGHT = 1_000.0
MAX_CANDIDATES = 1_000
MAX_RERANK_DEPTH = 100
MAX_RERANKED_PASSAGES = 2_000
"""Maximum number of passages that the cross-encoder reads for all queries of a request."""


def wrong_stages(request: RetrieveRequest | SearchRequest) -> list[Violation]:
    """Return the violations of the stages of a request that do not depend on the index."""
    wrong: list[Violation] = []
    if request.hybrid is not None:
        wrong += _wrong_hybrid(request.hybrid)
        if request.mode in (SearchMode.WORDS, SearchMode.VECTORS):
            wrong.append(Violation("hybrid", f"has no effect with mode {request.mode}"))
    if request.rerank is not None:
        wrong += _wrong_rerank(request.rerank)
    if isinstance(request, RetrieveRequest):
        wrong += _wrong_together(request)
    return wrong


def mode_of(request: RetrieveRequest, index: IndexDescription) -> SearchMode:
    """Return the mode of a search: words, vectors or hybrid.

    Raises:
        CapabilityMissing: the index does not have the mode of the request, or has no order in which
            every passage has a score under every query; the error names index and mode.
        InvalidRequest: the request has settings of a hybrid search, which this one is not.
    """
    require_mode(request.mode, index)
    mode = index.modes[-1] if request.mode is SearchMode.INDEX else request.mode
    if request.score_all and mode is SearchMode.HYBRID:
        text = f"score_all needs the mode words or vectors, and the index {index.name!r} is hybrid"
        raise CapabilityMissing(text, index=index.name, missing="scores")
    if request.hybrid is not None and mode is not SearchMode.HYBRID:
        text = f"has no effect: a search of the index {index.name!r} is of its {mode}"
        raise InvalidRequest.of("hybrid", text)
    return mode


def require_mode(mode: SearchMode, index: IndexDescription) -> None:
    """Pass a mode in which the index can be searched.

    Raises:
        CapabilityMissing: naming index and mode, and what the index can do.
    """
    if mode is SearchMode.INDEX or mode in index.modes:
        return
    known = ", ".join(index.modes)
    raise CapabilityMissing(
        f"the index {index.name!r} cannot be searched in mode {mode}; its modes: {known}; build it "
        "with --hybrid for all modes",
        index=index.name,
        missing=f"mode_{mode}",
    )


def require_reranker(index: IndexDescription) -> None:
    """Pass an index whose retriever can rerank passages.

    Raises:
        CapabilityMissing: the retriever has no cross-encoder.
    """
    if not index.reranker:
        raise no_reranker(index.name)


def no_reranker(index: str) -> CapabilityMissing:
    """Return the error of a retriever that cannot rerank passages."""
    return CapabilityMissing(
        f"passages of the index {index!r} cannot be reranked: the retriever has no cross-encoder; "
        "set SCAAR_RETRIEVER_RERANKER to its folder, or SCAAR_RETRIEVER_RERANK_URL",
        index=index,
        missing="reranker",
    )


def _wrong_hybrid(hybrid: HybridSettings) -> Iterator[Violation]:
    for name, maximum in (("rrf_k", MAX_RRF_K), ("candidates", MAX_CANDIDATES)):
        if not 1 <= (value := getattr(hybrid, name)) <= maximum:
            yield Violation(f"hybrid.{name}", f"must be 1 to {maximum:,}, not {value:,}")
    for name in ("words_weight", "vectors_weight"):
        weight = getattr(hybrid, name)
        if not (math.isfinite(weight) and 0 < weight <= MAX_WEIGHT):
            text = f"must be in (0, {MAX_WEIGHT:g}], not {weight:g}"
            yield Violation(f"hybrid.{name}", text)


def _wrong_rerank(rerank: RerankSettings) -> Iterator[Violation]:
    if not 1 <= rerank.depth <= MAX_RERANK_DEPTH:
        text = f"must be 1 to {MAX_RERANK_DEPTH}, not {rerank.depth:,}"
        yield Violation("rerank.depth", text)


def _wrong_together(request: RetrieveRequest) -> Iterator[Violation]:
    if request.score_all and request.mode is SearchMode.HYBRID:
        yield Violation("score_all", "cannot be combined with mode hybrid")
    if request.rerank is None:
        return
    if request.score_all:
        yield Violation("score_all", "cannot be combined with rerank")
    read = len(request.queries) * max(request.top_k, request.rerank.depth)
    if read > MAX_RERANKED_PASSAGES:
        limit = f"must let the cross-encoder read at most {MAX_RERANKED_PASSAGES:,} passages"
        yield Violation("queries", f"{limit} (queries times depth), not {read:,}")
