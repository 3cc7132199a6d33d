"""The options of an index of vectors, and what they ask for."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scaar.core.errors import InvalidRequest
from scaar.core.types import DenseSettings, HnswSettings, VectorMetric


class SearchKind(StrEnum):
    """How the nearest vectors are found."""

    EXACT = "exact"
    HNSW = "hnsw"


Metric = Annotated[
    VectorMetric | None,
    typer.Option(help="By what vectors are compared; ip if not given.", show_default=False),
]
Search = Annotated[
    SearchKind | None,
    typer.Option(
        help="Vectors searched one by one, or by a graph; exact if not given.", show_default=False
    ),
]
_GRAPH = HnswSettings()
HnswM = Annotated[
    int | None,
    typer.Option(
        metavar="N", help=f"Neighbours of a vector in the graph; {_GRAPH.m}.", show_default=False
    ),
]
HnswEfConstruction = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help=f"Candidates when a vector is put into the graph; {_GRAPH.ef_construction}.",
        show_default=False,
    ),
]
HnswEfSearch = Annotated[
    int | None,
    typer.Option(
        metavar="N", help=f"Candidates of a search; {_GRAPH.ef_search}.", show_default=False
    ),
]


def dense_settings(
    metric: VectorMetric | None,
    search: SearchKind | None,
    hnsw: Mapping[str, int | None],
    *,
    encoder: Path | None,
) -> DenseSettings | None:
    """What the options ask for; None where none of them is given: an index of words.

    Raises:
        InvalidRequest: a setting of the graph is given, and the search is not by it.
    """
    given = {name: value for name, value in hnsw.items() if value is not None}
    if given and search is not SearchKind.HNSW:
        name = f"--hnsw-{next(iter(given)).replace('_', '-')}"
        raise InvalidRequest.of(name, "goes with --search hnsw alone")
    if metric is None and search is None and encoder is None:
        return None
    graph = HnswSettings(**given) if search is SearchKind.HNSW else None
    return DenseSettings(metric or VectorMetric.INNER_PRODUCT, graph)
