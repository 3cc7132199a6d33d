"""Options of dense indexes, and the settings that they give."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scaar.core.errors import InvalidRequest
from scaar.core.types import DenseSettings, HnswSettings, VectorMetric


class SearchKind(StrEnum):
    """Search method of a dense index."""

    EXACT = "exact"
    HNSW = "hnsw"


Metric = Annotated[
    VectorMetric | None, typer.Option(help="Similarity measure of vectors. Default: ip.")
]
Search = Annotated[
    SearchKind | None,
    typer.Option(help="Search method of vectors: all of them, or an HNSW graph. Default: exact."),
]
_GRAPH = HnswSettings()
HnswM = Annotated[
    int | None,
    typer.Option(metavar="N", help=f"HNSW: neighbours of a vector. Default: {_GRAPH.m}."),
]
HnswEfConstruction = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help=f"HNSW: candidates when a vector is added. Default: {_GRAPH.ef_construction}.",
    ),
]
HnswEfSearch = Annotated[
    int | None,
    typer.Option(metavar="N", help=f"HNSW: candidates of a search. Default: {_GRAPH.ef_search}."),
]


Hybrid = Annotated[
    bool,
    typer.Option(
        "--hybrid",
        help="Index words and vectors, for searches by either and by both.",
    ),
]


def dense_settings(
    metric: VectorMetric | None,
    search: SearchKind | None,
    hnsw: Mapping[str, int | None],
    *,
    encoder: Path | None,
    hybrid: bool = False,
) -> DenseSettings | None:
    """Return the settings of a dense index; None for an index of words, without any option.

    Raises:
        InvalidRequest: an HNSW setting is given for another search method.
    """
    given = {name: value for name, value in hnsw.items() if value is not None}
    if given and search is not SearchKind.HNSW:
        name = f"--hnsw-{next(iter(given)).replace('_', '-')}"
        raise InvalidRequest.of(name, "requires --search hnsw")
    if metric is None and search is None and encoder is None and not hybrid:
        return None
    graph = HnswSettings(**given) if search is SearchKind.HNSW else None
    return DenseSettings(metric or VectorMetric.INNER_PRODUCT, graph, words=hybrid)
