"""Options of the stages of a search: its mode, the fusion of two rankings, and reranking."""

from dataclasses import replace
from typing import Annotated

import typer

from scaar.core.errors import InvalidRequest
from scaar.core.search_stages import MAX_CANDIDATES, MAX_RERANK_DEPTH, MAX_RRF_K
from scaar.core.types import HybridSettings, RerankSettings, SearchMode

_HYBRID = HybridSettings()
Mode = Annotated[
    SearchMode,
    typer.Option(
        help="Search by words (BM25), by vectors, or by both, fused by reciprocal rank; index: as "
        "the index was built."
    ),
]
RrfK = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help=f"Hybrid: constant added to a rank, 1 to {MAX_RRF_K:,}. Default: {_HYBRID.rrf_k}.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS,VECTORS",
        help="Hybrid: weights of the rankings by words and by vectors. Default: 1,1.",
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help=f"Hybrid: passages of each ranking, 1 to {MAX_CANDIDATES:,}. Default: "
        f"{_HYBRID.candidates}.",
    ),
]
Rerank = Annotated[
    bool,
    typer.Option("--rerank", help="Order the best passages by the retriever's cross-encoder."),
]
RerankDepth = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help=f"Passages that the cross-encoder reads, 1 to {MAX_RERANK_DEPTH}. Default: "
        f"{RerankSettings().depth}.",
    ),
]


def hybrid_settings(
    rrf_k: int | None, weights: str | None, candidates: int | None
) -> HybridSettings | None:
    """Return the settings of a hybrid search; None without any option.

    Raises:
        InvalidRequest: the weights are not two numbers.
    """
    settings = _HYBRID
    if rrf_k is not None:
        settings = replace(settings, rrf_k=rrf_k)
    if weights is not None:
        words, vectors = _weights(weights)
        settings = replace(settings, words_weight=words, vectors_weight=vectors)
    if candidates is not None:
        settings = replace(settings, candidates=candidates)
    given = (rrf_k, weights, candidates) != (None, None, None)
    return settings if given else None


def rerank_settings(depth: int | None, *, rerank: bool) -> RerankSettings | None:
    """Return the settings of reranking; None if the passages are not reranked.

    Raises:
        InvalidRequest: a depth is given without reranking.
    """
    if not rerank:
        if depth is not None:
            raise InvalidRequest.of("--rerank-depth", "requires --rerank")
        return None
    return RerankSettings() if depth is None else RerankSettings(depth)


def _weights(text: str) -> tuple[float, float]:
    try:
        words, vectors = map(float, text.split(","))
    except ValueError:
        raise InvalidRequest.of("--weights", f"must be two numbers, not {text!r}") from None
    return words, vectors
