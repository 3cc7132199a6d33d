"""``scaar search``: the best passages for a query."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from scaar.cli.addresses import RetrieverAddress
from scaar.cli.ask.filters import Filters, parse_filters
from scaar.cli.completion import complete_index
from scaar.cli.index import search_options as options
from scaar.cli.index.commands import Encoder
from scaar.cli.tables import Column, Format, Table, TableFormat, number, output_format, print_table
from scaar.compose import (
    EMBEDDED,
    LAB_SEED,
    default_index_name,
    ensure_lab_index_in,
    lab_index_name,
    open_indexes,
)
from scaar.core.distributions import lab_is_installed
from scaar.core.loop.index_check import require_named
from scaar.core.types import RetrievedPassage, RetrieveRequest, ScoreParts, SearchMode
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.retriever.metadata import metadata_to_json
from scaar.retriever.validation import check_request

_LAB_INDEX = lab_index_name(LAB_SEED)
_INDENT = "   "


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Text to search for.")],
    index: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Index to search. Default: SCAAR_ORCHESTRATOR_DEFAULT_INDEX, else lab.",
            autocompletion=complete_index,
        ),
    ] = None,
    top_k: Annotated[
        int, typer.Option(metavar="K", help="Maximum number of passages, 1 to 100.")
    ] = 3,
    filters: Filters = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Id of a passage that is not returned; repeatable."),
    ] = None,
    mode: options.Mode = SearchMode.INDEX,
    rrf_k: options.RrfK = None,
    weights: options.Weights = None,
    candidates: options.Candidates = None,
    rerank: options.Rerank = False,
    rerank_depth: options.RerankDepth = None,
    output: Format = None,
    encoder: Encoder = None,
    target: RetrieverAddress = EMBEDDED,
) -> None:
    """Search an index and print the best passages."""
    request = RetrieveRequest(
        queries=(query,),
        top_k=top_k,
        index=require_named(index or default_index_name(OrchestratorSettings.read())),
        filters=parse_filters(filters or ()),
        excluded_ids=tuple(exclude or ()),
        mode=mode,
        hybrid=options.hybrid_settings(rrf_k, weights, candidates),
        rerank=options.rerank_settings(rerank_depth, rerank=rerank),
    )
    # Report an invalid request before anything is loaded.
    check_request(request)
    passages = asyncio.run(_search(request, target, encoder))
    if not passages:
        which = f"{request.index}{' that matches the filters' if request.filters else ''}"
        which += " that is not excluded" if request.excluded_ids else ""
        Console(stderr=True).print(f"The query finds no passage of {which}.", markup=False)
    if output_format(output) is TableFormat.TABLE:
        _show(passages)
    else:
        print_table(_table(passages), output)


async def _search(
    request: RetrieveRequest, target: str, encoder: Path | None
) -> Sequence[RetrievedPassage]:
    async with open_indexes(target, encoder=encoder) as indexes:
        if target == EMBEDDED and request.index == _LAB_INDEX and lab_is_installed():
            await ensure_lab_index_in(indexes)
        result = await indexes.retrieve(request)
    return result.results[0]


def _show(passages: Sequence[RetrievedPassage]) -> None:
    """Print two lines for each passage, cut at the width of the terminal."""
    console = Console(highlight=False)
    for passage in passages:
        head = Text.assemble(
            (f"{passage.rank:<{len(_INDENT)}}", "bold"),
            f"{passage.score:.3f}  ",
            (_one_line(passage.id), "cyan"),
            "  ",
            (_one_line(passage.title), "bold"),
        )
        parts = f"{_INDENT}{_parts(passage.score_parts)}" if passage.score_parts else ""
        lines = (head, *([Text(parts, style="dim")] if parts else []))
        for line in (*lines, Text(f"{_INDENT}{_one_line(passage.text)}")):
            line.truncate(console.width, overflow="ellipsis")
            console.print(line, no_wrap=True)


def _parts(parts: ScoreParts) -> str:
    """Return what each stage of the search says of a passage."""
    found = [
        f"{name} {part.rank} ({part.score:.4g})"
        for name, part in (
            ("words", parts.words),
            ("vectors", parts.vectors),
            ("fused", parts.fused),
        )
        if part is not None
    ]
    if parts.rerank is not None:
        found.append(f"rerank {parts.rerank:.4g}")
    return ", ".join(found)


def _one_line(text: str) -> str:
    """Return a text without line breaks and control characters."""
    spaced = " ".join(text.split())
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in spaced)


def _table(passages: Sequence[RetrievedPassage]) -> Table:
    columns = (
        *(Column("rank"), Column("score", text=number(3))),
        *(Column(name, right=False) for name in ("id", "title", "text")),
    )
    rows = [
        (each.rank, each.score, each.id, _one_line(each.title), _one_line(each.text))
        for each in passages
    ]
    return Table(columns, rows, [_record(each) for each in passages])


def _record(passage: RetrievedPassage) -> dict[str, object]:
    record: dict[str, object] = {
        "rank": passage.rank,
        "score": passage.score,
        "id": passage.id,
        "title": passage.title,
        "text": passage.text,
        "metadata": metadata_to_json(passage.metadata),
    }
    if passage.score_parts is not None:
        record["score_parts"] = asdict(passage.score_parts)
    return record
