"""Searches of an index on OpenSearch, with all queries of a request in one message."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from scaar.core.errors import (
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    ScaarError,
)
from scaar.core.filters import check_declared
from scaar.core.search_stages import mode_of
from scaar.core.types import (
    DenseDescription,
    HybridSettings,
    PassageInContext,
    PassageRequest,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
    SearchMode,
)
from scaar.retriever.dense import ConfiguredEncoder, Vectors, encode
from scaar.retriever.hybrid import depth_of, fuse
from scaar.retriever.opensearch.catalogue import Catalogue, StoredIndex
from scaar.retriever.opensearch.errors import condition, kind_of
from scaar.retriever.opensearch.reading import read_passages
from scaar.retriever.opensearch.record import Record, damaged
from scaar.retriever.opensearch.schema import retrieved_passage, search_lines, vector_search_lines
from scaar.retriever.opensearch.server import Server
from scaar.retriever.opensearch.vectors import port_score
from scaar.retriever.reranking.stage import with_parts
from scaar.retriever.workers import Workers

LOOKUP_TTL_S = 5.0
"""Seconds for which the current index of a name is cached, unless a search of the index fails."""

_QUERIES_PER_REQUEST = 100
_HYBRID_QUERIES_PER_REQUEST = 10
"""Fewer queries, since each has the candidates of two rankings."""
_ATTEMPTS = 10
_Found = TypeVar("_Found")


class OpenSearchSearch:
    """Searches the indexes of a catalogue.

    A published index never changes, so its record stays valid while the index exists. When an index
    is replaced, searches of the old one fail, and the name is looked up again.
    """

    def __init__(
        self,
        server: Server,
        catalogue: Catalogue,
        *,
        configured_encoder: ConfiguredEncoder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._catalogue, self._clock = server, catalogue, clock
        self._configured_encoder = configured_encoder
        self._encoding = Workers(1, "scaar-encode")
        self._known: dict[str, tuple[float, StoredIndex, Record]] = {}

    async def search(self, request: RetrieveRequest) -> RetrieveResult:
        """Return the passages for every query, all from one version of the index."""

        async def found(stored: StoredIndex, record: Record) -> RetrieveResult:
            check_declared(request.filters, record.metadata_fields, index=request.index)
            results = await self._search(stored, record, request)
            return RetrieveResult(request.index, record.version, results)

        return await self._in_current(request.index, found)

    async def passage(self, request: PassageRequest) -> PassageInContext:
        """Return a passage, without neighbours: the server keeps no order of passages."""

        async def found(stored: StoredIndex, record: Record) -> PassageInContext:
            passages = await read_passages(self._server, stored.index, [request.id])
            if request.id not in passages:
                raise NotFound.of_passage(request.index, request.id)
            return PassageInContext(request.index, record.version, passages[request.id])

        return await self._in_current(request.index, found)

    async def _in_current(
        self, name: str, read: Callable[[StoredIndex, Record], Awaitable[_Found]]
    ) -> _Found:
        """Return what is read in an index, again if the index was replaced meanwhile."""
        for attempt in range(1, _ATTEMPTS + 1):
            stored, record = await self._open(name)
            try:
                return await read(stored, record)
            except (CapabilityMissing, DeadlineExceeded, InvalidRequest, Overloaded):
                raise
            except ScaarError:
                # If the index was replaced or dropped meanwhile, read the current one.
                self.forget(name)
                if attempt == _ATTEMPTS or not await self._catalogue.is_stale(stored):
                    raise
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Wait for work in progress. No further calls are allowed."""
        self._encoding.close()

    def forget(self, name: str) -> None:
        """Look up the name again before the next search."""
        self._known.pop(name, None)

    async def _open(self, name: str) -> tuple[StoredIndex, Record]:
        now = self._clock()
        known = self._known.get(name)
        if known and known[0] > now:
            return known[1:]
        self.forget(name)
        stored, record = await self._catalogue.open(name)
        self._known[name] = (now + LOOKUP_TTL_S, stored, record)
        return stored, record

    async def _search(
        self, stored: StoredIndex, record: Record, request: RetrieveRequest
    ) -> tuple[tuple[RetrievedPassage, ...], ...]:
        mode = mode_of(request, record.description())
        if mode is SearchMode.HYBRID:
            return await self._search_both(stored, record, request)
        results: list[tuple[RetrievedPassage, ...]] = []
        for start in range(0, len(request.queries), _QUERIES_PER_REQUEST):
            queries = await self._analysed(
                record, request.queries[start : start + _QUERIES_PER_REQUEST], request.index, mode
            )
            found = await self._found(stored, record, queries, request, start=start)
            if request.score_all and (ids := sorted({each.id for of in found for each in of})):
                # A published index never changes, so both searches are of the same passages.
                found = await self._found(stored, record, queries, request, start=start, only=ids)
            results += (with_parts(each, request, mode) for each in found)
        return tuple(results)

    async def _search_both(
        self, stored: StoredIndex, record: Record, request: RetrieveRequest
    ) -> tuple[tuple[RetrievedPassage, ...], ...]:
        """Return the passages for every query by the fused rankings of words and vectors.

        The rankings are fused here: the server's own fusion has no weights in 2.x, and breaks ties
        by the place of a passage in the index.
        """
        settings = request.hybrid or HybridSettings()
        deep = replace(request, top_k=depth_of(settings, request.top_k))
        results: list[tuple[RetrievedPassage, ...]] = []
        for start in range(0, len(request.queries), _HYBRID_QUERIES_PER_REQUEST):
            texts = request.queries[start : start + _HYBRID_QUERIES_PER_REQUEST]
            vectors = await self._analysed(record, texts, request.index, SearchMode.VECTORS)
            both = [*texts, *vectors]
            found = await self._found(stored, record, both, deep, start=start)
            pairs = zip(found[: len(texts)], found[len(texts) :], strict=True)
            results += (_fused(words, near, settings, request.top_k) for words, near in pairs)
        return tuple(results)

    async def _analysed(
        self, record: Record, queries: Sequence[str], index: str, mode: SearchMode
    ) -> "Sequence[str | Vectors]":
        """Return the queries, or their vectors, with which the index is searched."""
        if record.dense is None or mode is SearchMode.WORDS:
            return queries
        encoder = await self._encoding.run(self._configured_encoder.check, index, record.dense)
        return list(await self._encoding.run(encode, encoder, queries))

    async def _found(
        self,
        stored: StoredIndex,
        record: Record,
        queries: "Sequence[str | Vectors]",
        request: RetrieveRequest,
        *,
        start: int,
        only: Sequence[str] = (),
    ) -> list[tuple[RetrievedPassage, ...]]:
        """Return the passages for each query; with ``only``, those of these ids."""
        lines = [_lines(stored, record, query, request, only) for query in queries]
        answer = await self._server.call(
            self._server.client.msearch, f"search the index {request.index!r}", body=b"".join(lines)
        )
        kinds = [None if isinstance(each, str) else record.dense for each in queries]
        return _results(answer["responses"], kinds, start, request)


def _lines(
    stored: StoredIndex,
    record: Record,
    query: "str | Vectors",
    request: RetrieveRequest,
    only: Sequence[str],
) -> bytes:
    """Return the lines of the search for a query."""
    top_k = len(only) or request.top_k
    if isinstance(query, str):
        return search_lines(
            stored.index,
            query,
            top_k,
            shards=record.shards,
            filters=request.filters,
            excluded=request.excluded_ids,
            only=only,
        )
    assert record.dense is not None
    return vector_search_lines(
        stored.index,
        query,
        top_k,
        settings=record.dense.settings,
        filters=request.filters,
        excluded=request.excluded_ids,
        only=only,
    )


def _results(
    answers: Sequence[Mapping[str, Any]],
    kinds: Sequence[DenseDescription | None],
    start: int,
    request: RetrieveRequest,
) -> list[tuple[RetrievedPassage, ...]]:
    """Return the passages of each search, of queries from ``start`` on, again for each ranking.

    ``kinds`` has the description of the vectors for a search by vectors.
    """
    results, index = [], request.index
    for place, (answer, dense) in enumerate(zip(answers, kinds, strict=True)):
        if "error" in answer:
            rankings = 2 if len({each is None for each in kinds}) > 1 else 1
            position = start + place % (len(kinds) // rankings)
            error = condition(answer["status"], kind_of(answer), f"search the index {index!r}")
            if isinstance(error, InvalidRequest):
                raise InvalidRequest.of(f"queries[{position}]", error.violations[0].description)
            raise error
        hits = answer["hits"]["hits"]
        try:
            results.append(
                tuple(
                    retrieved_passage(hit["_source"], _score(hit, dense), rank)
                    for rank, hit in enumerate(hits, 1)
                )
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise damaged(index, "it contains a document that is not a passage") from error
    return results


def _fused(
    words: tuple[RetrievedPassage, ...],
    vectors: tuple[RetrievedPassage, ...],
    settings: HybridSettings,
    top_k: int,
) -> tuple[RetrievedPassage, ...]:
    passages = {each.id: each for each in (*words, *vectors)}
    fused = fuse(
        ((each.id, each.score) for each in words),
        ((each.id, each.score) for each in vectors),
        settings,
        top_k,
        order=lambda passage_id: passage_id,
    )
    return tuple(
        replace(passages[each.key], score=each.score, rank=rank, score_parts=each.parts)
        for rank, each in enumerate(fused, 1)
    )


def _score(hit: Mapping[str, Any], dense: DenseDescription | None) -> float:
    score = float(hit["_score"])
    return port_score(score, dense.settings) if dense else score
