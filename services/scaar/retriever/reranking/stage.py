"""Stage of a retriever that orders the passages of a search by a cross-encoder."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from scaar.core.search_stages import no_reranker
from scaar.core.types import (
    IndexDescription,
    RankedScore,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
    ScoreParts,
    SearchMode,
)
from scaar.retriever.dense import encoded_text


class Reranker(Protocol):
    """A cross-encoder that computes the relevance of texts for a query."""

    @property
    def name(self) -> str:
        """The name of the cross-encoder."""
        ...

    @property
    def revision(self) -> str:
        """The revision of the cross-encoder; empty if it is unknown."""
        ...

    async def relevance(self, query: str, texts: list[str]) -> list[float]:
        """Return the relevance of each text; a higher one is better.

        Raises:
            DataCorrupt: the cross-encoder returns invalid numbers.
            Overloaded, BackendUnavailable, DeadlineExceeded: a server cannot compute it now.
        """
        ...


class RerankingStage:
    """Reranks what a search finds, if the request asks for it."""

    def __init__(self, reranker: Reranker | None = None) -> None:
        self._reranker = reranker

    def describe(self, index: IndexDescription) -> IndexDescription:
        """Return the description of an index, with the cross-encoder."""
        if self._reranker is None:
            return index
        revision = self._reranker.revision
        return replace(index, reranker=self._reranker.name, reranker_revision=revision)

    async def retrieve(
        self,
        request: RetrieveRequest,
        search: Callable[[RetrieveRequest], Awaitable[RetrieveResult]],
    ) -> RetrieveResult:
        """Return what the search finds, reranked if the request asks for it, ties by passage id.

        The passages of a search for a request with ``rerank`` state their score parts.

        Raises:
            CapabilityMissing: there is no cross-encoder.
        """
        if request.rerank is None:
            return await search(request)
        if self._reranker is None:
            raise no_reranker(request.index)
        depth = max(request.top_k, request.rerank.depth)
        found = await search(replace(request, top_k=depth))
        results = []
        for query, passages in zip(request.queries, found.results, strict=True):
            results.append((await self._reranked(self._reranker, query, passages))[: request.top_k])
        return replace(found, results=tuple(results))

    async def _reranked(
        self, reranker: Reranker, query: str, passages: tuple[RetrievedPassage, ...]
    ) -> tuple[RetrievedPassage, ...]:
        if not passages:
            return ()
        scores = await reranker.relevance(query, [encoded_text(each) for each in passages])
        order = sorted(zip(passages, scores, strict=True), key=lambda each: (-each[1], each[0].id))
        return tuple(
            replace(
                passage,
                score=score,
                rank=rank,
                score_parts=replace(passage.score_parts or ScoreParts(), rerank=score),
            )
            for rank, (passage, score) in enumerate(order, 1)
        )


def with_parts(
    passages: tuple[RetrievedPassage, ...], request: RetrieveRequest, mode: SearchMode
) -> tuple[RetrievedPassage, ...]:
    """Return passages of one ranking, with their score parts if they are to be reranked."""
    if request.rerank is None:
        return passages
    return tuple(replace(each, score_parts=_part(each, mode)) for each in passages)


def _part(passage: RetrievedPassage, mode: SearchMode) -> ScoreParts:
    part = RankedScore(passage.rank, passage.score)
    return ScoreParts(words=part) if mode is SearchMode.WORDS else ScoreParts(vectors=part)
