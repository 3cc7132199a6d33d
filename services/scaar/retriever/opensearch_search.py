"""Searches of an index on OpenSearch, all the queries of a request together."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scaar.core.errors import (
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    Overloaded,
    ScaarError,
)
from scaar.core.filters import check_declared
from scaar.core.types import (
    DenseDescription,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.retriever.dense import OwnEncoder, encode
from scaar.retriever.opensearch_catalogue import Catalogue, Stored
from scaar.retriever.opensearch_errors import condition, kind_of
from scaar.retriever.opensearch_record import Record, damaged
from scaar.retriever.opensearch_schema import found_of, search_lines, vector_search_lines
from scaar.retriever.opensearch_server import Server
from scaar.retriever.opensearch_vectors import score_of
from scaar.retriever.workers import Workers

KNOWN_FOR_S = 5.0
"""Seconds for which it is taken as known which index a name stands for, while that one is there."""

_QUERIES_AT_ONCE = 100
_ATTEMPTS = 10


class OpenSearchSearch:
    """Searches the indexes of a catalogue.

    An index never changes once it has its name, so what is known of one holds as long as it is
    there. One that is replaced is gone, and the name is looked up again.
    """

    def __init__(
        self,
        server: Server,
        catalogue: Catalogue,
        *,
        own_encoder: OwnEncoder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._catalogue, self._clock = server, catalogue, clock
        self._own_encoder = own_encoder
        self._encoding = Workers(1, "scaar-encode")
        self._known: dict[str, tuple[float, Stored, Record]] = {}

    async def search(self, request: RetrieveRequest) -> RetrieveResult:
        """The passages for every query, all of one version of the index."""
        for attempt in range(1, _ATTEMPTS + 1):
            stored, record = await self._open(request.index)
            check_declared(request.filters, record.metadata_fields, index=request.index)
            try:
                results = await self._search(stored, record, request)
            except (CapabilityMissing, DeadlineExceeded, InvalidRequest, Overloaded):
                raise
            except ScaarError:
                # Replaced or dropped while it was searched: another index has the name now.
                self.forget(request.index)
                if attempt == _ATTEMPTS or not await self._catalogue.is_gone(stored):
                    raise
            else:
                return RetrieveResult(request.index, record.version, results)
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Waits for the work in hand; no more may be asked for."""
        self._encoding.close()

    def forget(self, name: str) -> None:
        """Has a name looked up again before the next search."""
        self._known.pop(name, None)

    async def _open(self, name: str) -> tuple[Stored, Record]:
        now = self._clock()
        known = self._known.get(name)
        if known and known[0] > now:
            return known[1:]
        self.forget(name)
        stored, record = await self._catalogue.open(name)
        self._known[name] = (now + KNOWN_FOR_S, stored, record)
        return stored, record

    async def _search(
        self, stored: Stored, record: Record, request: RetrieveRequest
    ) -> tuple[tuple[RetrievedPassage, ...], ...]:
        results: list[tuple[RetrievedPassage, ...]] = []
        for start in range(0, len(request.queries), _QUERIES_AT_ONCE):
            queries = request.queries[start : start + _QUERIES_AT_ONCE]
            lines = await self._lines(stored, record, queries, request)
            answer = await self._server.ask(
                self._server.client.msearch,
                f"search the index {request.index!r}",
                body=b"".join(lines),
            )
            results += _results(answer["responses"], start, request.index, record.dense)
        return tuple(results)

    async def _lines(
        self, stored: Stored, record: Record, queries: Sequence[str], request: RetrieveRequest
    ) -> list[bytes]:
        """The lines of the search for each query."""
        if record.dense is None:
            return [
                search_lines(
                    stored.index,
                    query,
                    request.top_k,
                    shards=record.shards,
                    filters=request.filters,
                )
                for query in queries
            ]
        encoder = self._own_encoder.check(request.index, record.dense)
        return [
            vector_search_lines(
                stored.index,
                vector,
                request.top_k,
                settings=record.dense.settings,
                filters=request.filters,
            )
            for vector in await self._encoding.run(encode, encoder, queries)
        ]


def _results(
    answers: Sequence[Mapping[str, Any]],
    start: int,
    index: str,
    dense: DenseDescription | None,
) -> list[tuple[RetrievedPassage, ...]]:
    results = []
    for position, answer in enumerate(answers, start):
        if "error" in answer:
            error = condition(answer["status"], kind_of(answer), f"search the index {index!r}")
            if isinstance(error, InvalidRequest):
                raise InvalidRequest.of(f"queries[{position}]", error.violations[0].description)
            raise error
        hits = answer["hits"]["hits"]
        try:
            results.append(
                tuple(
                    found_of(hit["_source"], _score(hit, dense), rank)
                    for rank, hit in enumerate(hits, 1)
                )
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise damaged(index, "it holds what is no passage") from error
    return results


def _score(hit: Mapping[str, Any], dense: DenseDescription | None) -> float:
    score = float(hit["_score"])
    return score_of(score, dense.settings) if dense else score
