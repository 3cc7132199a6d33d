"""``scaar eval retrieval``: measure the rankings of an index on queries with judged passages."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from scaar.cli.addresses import RetrieverAddress
from scaar.cli.completion import complete_index
from scaar.cli.eval import options
from scaar.cli.eval.fields import draw, named_by_options
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.index import search_options
from scaar.cli.index.commands import Encoder
from scaar.cli.notes import print_notes
from scaar.cli.tables import Column, Format, Interval, Table, TableFormat, number, print_table
from scaar.compose import EMBEDDED, ensure_lab_index_in, lab_index_name, open_indexes
from scaar.core.errors import InvalidRequest
from scaar.core.plurals import counted
from scaar.core.types import IndexDescription, SearchMode
from scaar.evaluator.store.files import write_whole
from scaar.evaluator.studies.retrieval.beir import read_beir
from scaar.evaluator.studies.retrieval.rankings import (
    MAX_DEPTH,
    MAX_STAGED_DEPTH,
    Ranking,
    Stages,
    check_depth,
    default_depth,
    rank,
)
from scaar.evaluator.studies.retrieval.topics import Topics, topics_of_questions
from scaar.evaluator.studies.retrieval.trec import read_trec, run_lines

BEIR, TREC = "beir", "trec"
TEST = "test"
USUAL = "nDCG@10,AP,RR@10,R@100,P@30"


@dataclass(frozen=True, slots=True)
class _Collection:
    topics: Topics
    index: str | None = None
    lab_world: int | None = None


def retrieval(
    dataset: Annotated[
        str,
        typer.Option(
            metavar="NAME:PATH",
            help="beir:DIR for a folder in BEIR's layout, trec:TOPICS for a file of topics, or a "
            "data set whose questions name their supporting passages (see `scaar dataset list`).",
        ),
    ],
    index: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Index to search. Default for lab: the index of its world.",
            autocompletion=complete_index,
        ),
    ] = None,
    split: Annotated[
        str, typer.Option(metavar="NAME", help="beir: split whose judgements are used.")
    ] = TEST,
    qrels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="trec: file of judgements.")
    ] = None,
    measures: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Measures, as ir_measures names them."),
    ] = USUAL,
    depth: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"Passages of a ranking, 1 to {MAX_DEPTH:,}; hybrid or reranked, to "
            f"{MAX_STAGED_DEPTH}. Default: the maximum.",
        ),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for the rankings, as a TREC run.")
    ] = None,
    mode: search_options.Mode = SearchMode.INDEX,
    rrf_k: search_options.RrfK = None,
    weights: search_options.Weights = None,
    candidates: search_options.Candidates = None,
    rerank: search_options.Rerank = False,
    rerank_depth: search_options.RerankDepth = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    output: Format = None,
    encoder: Encoder = None,
    target: RetrieverAddress = EMBEDDED,
) -> None:
    """Measure the rankings of an index.

    No model is called. A query without judged passages is left out; one that finds no passage
    scores 0.
    """
    # Only this command needs ir_measures, and only commands with statistics load numpy.
    from scaar.evaluator.studies.retrieval.measures import mean, measured, parse_measures

    names = options.names_of(measures)
    with named_by_options():
        parse_measures(names)
        check_depth(MAX_DEPTH if depth is None else depth)
        collection = _collection(dataset, split, qrels, limit, seed)
    stages = Stages(
        mode,
        search_options.hybrid_settings(rrf_k, weights, candidates),
        search_options.rerank_settings(rerank_depth, rerank=rerank),
    )
    if (index := index or collection.index) is None:
        raise InvalidRequest.of("--index", "is required: the data set has no default index")
    with named_by_options():
        described, rankings = asyncio.run(
            _rank(collection, index, depth, target, encoder=encoder, stages=stages)
        )
    if run is not None:
        _write(run, rankings, described)
    topics = collection.topics
    values = measured(names, topics.judged, rankings)
    rows = [(name, Interval.of(mean(list(values[name].values())))) for name in names]
    _print(rows, output)
    left_out = f"; {topics.unjudged} without judgements left out" if topics.unjudged else ""
    print_notes(
        f"{counted(len(topics.judged), 'query')} on {described.name} "
        f"({counted(described.passages, 'passage')}, version {_version(described)})"
        f"{left_out}; intervals are 95%, over queries"
    )


def _collection(
    dataset: str, split: str, qrels: Path | None, limit: int | None, seed: int | None
) -> _Collection:
    name, _, path = dataset.partition(":")
    if name in (BEIR, TREC):
        if not path:
            raise InvalidRequest.of("dataset", f"must name the path of the collection: {name}:PATH")
        for option, value in (("limit", limit), ("seed", seed)):
            if value is not None:
                raise InvalidRequest.of(option, f"is not taken by {name}")
    if (qrels is not None) != (name == TREC):
        text = "is required by trec" if qrels is None else f"is not taken by {name}"
        raise InvalidRequest.of("qrels", text)
    if name == BEIR:
        return _Collection(read_beir(Path(path), split))
    if qrels is not None:
        return _Collection(read_trec(Path(path), qrels))
    drawn = draw(dataset, limit=limit, seed=seed)
    return _Collection(topics_of_questions(drawn.questions), drawn.index, drawn.lab_world)


async def _rank(
    collection: _Collection,
    index: str,
    depth: int | None,
    target: str,
    *,
    encoder: Path | None,
    stages: Stages,
) -> tuple[IndexDescription, dict[str, Ranking]]:
    progress = EvaluationProgress(what="queries", name="searching")
    topics = collection.topics.judged
    async with open_indexes(target, encoder=encoder) as indexes:
        world = collection.lab_world
        if target == EMBEDDED and world is not None and index == lab_index_name(world):
            await ensure_lab_index_in(indexes, world)
        described = await indexes.describe_index(index)
        depth = default_depth(described, stages) if depth is None else depth
        with progress.watch(len(topics), 0) as count:
            rankings = await rank(
                indexes, index, topics, depth=depth, stages=stages, on_ranked=count
            )
            return described, rankings


def _version(index: IndexDescription) -> str:
    return index.version[:12]


def _write(path: Path, rankings: dict[str, Ranking], index: IndexDescription) -> None:
    lines = (
        line
        for topic, ranking in rankings.items()
        for line in run_lines(topic, ranking, f"{index.name}-{_version(index)}")
    )
    write_whole(path, "".join(lines).encode())


def _print(rows: list[tuple[str, Interval]], output: TableFormat | None) -> None:
    def text(value: object) -> str:
        assert isinstance(value, Interval)
        shown = number(4)
        bounds = "" if value.low is None else f" [{shown(value.low)}, {shown(value.high)}]"
        return f"{shown(value.value)}{bounds}"

    print_table(Table([Column("measure", right=False), Column("mean", text=text)], rows), output)
