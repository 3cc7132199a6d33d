"""``scaar search``: the passages that a query finds."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from scaar.cli.filters import Filters, parse_filters
from scaar.cli.index import Encoder, Target
from scaar.cli.json_lines import print_json_lines
from scaar.compose import EMBEDDED, LAB_SEED, ensure_lab_index, lab_index_name, open_retriever
from scaar.core.types import RetrievedPassage, RetrieveRequest
from scaar.retriever.metadata import metadata_to_json
from scaar.retriever.validation import check_request

_LAB_INDEX = lab_index_name(LAB_SEED)
_INDENT = "   "


def search(
    query: Annotated[str, typer.Argument(help="What to look for.", show_default=False)],
    index: Annotated[str, typer.Option(metavar="NAME", help="The index to search.")] = _LAB_INDEX,
    top_k: Annotated[int, typer.Option(help="The most passages, 1 to 100.")] = 3,
    filters: Filters = None,
    as_json: Annotated[bool, typer.Option("--json", help="One passage a line, as JSON.")] = False,
    encoder: Encoder = None,
    target: Target = EMBEDDED,
) -> None:
    """Find passages, best first."""
    request = RetrieveRequest(
        queries=(query,), top_k=top_k, index=index, filters=parse_filters(filters or ())
    )
    # A mistake is told before anything is loaded.
    check_request(request)
    passages = asyncio.run(_search(request, target, encoder))
    if as_json:
        print_json_lines(_record(passage) for passage in passages)
    else:
        _show(passages, request)


async def _search(
    request: RetrieveRequest, target: str, encoder: Path | None
) -> Sequence[RetrievedPassage]:
    async with open_retriever(target, encoder=encoder) as retriever:
        if target == EMBEDDED and request.index == _LAB_INDEX:
            await ensure_lab_index(retriever)
        result = await retriever.retrieve(request)
    return result.results[0]


def _show(passages: Sequence[RetrievedPassage], request: RetrieveRequest) -> None:
    console = Console(highlight=False)
    if not passages:
        which = f"{request.index}{' that fits the filters' if request.filters else ''}"
        Console(stderr=True).print(f"No passage of {which} is found by the query.", markup=False)
    for passage in passages:
        head = Text.assemble(
            (f"{passage.rank:<{len(_INDENT)}}", "bold"),
            f"{passage.score:.3f}  ",
            (_one_line(passage.id), "cyan"),
            "  ",
            (_one_line(passage.title), "bold"),
        )
        for line in (head, Text(f"{_INDENT}{_one_line(passage.text)}")):
            line.truncate(console.width, overflow="ellipsis")
            console.print(line, no_wrap=True)


def _one_line(text: str) -> str:
    """A text without line breaks, and without what a terminal would obey."""
    spaced = " ".join(text.split())
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in spaced)


def _record(passage: RetrievedPassage) -> dict[str, object]:
    return {
        "rank": passage.rank,
        "score": passage.score,
        "id": passage.id,
        "title": passage.title,
        "text": passage.text,
        "metadata": metadata_to_json(passage.metadata),
    }
