"""``scaar index``: the indexes of this machine, or of the OpenSearch server of the settings."""

import asyncio
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from scaar.cli.json_lines import print_json_lines
from scaar.cli.local_indexes import build_from_file, open_local_indexes
from scaar.core.errors import InvalidRequest
from scaar.core.types import IndexDescription, IndexMode

app = typer.Typer(help="Build and keep indexes of passages.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The index.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="One index a line, as JSON.")]


@app.command("build")
def build(
    corpus: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help='Passages as JSON lines {"id", "title", "text"} or as .tsv in the layout of '
            "DPR's psgs_w100 (id, text, title), plain or gzip.",
            show_default=False,
        ),
    ],
    index: Annotated[
        str, typer.Option(metavar="NAME", help="What to call the index.", show_default=False)
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of an index of that name.")
    ] = False,
    upsert: Annotated[
        bool,
        typer.Option(
            "--upsert",
            help="Put the passages into the index of that name: those of the same id are "
            "replaced, the others added. It is made where it is not there.",
        ),
    ] = False,
) -> None:
    """Build an index from a file of passages, or change one by it.

    It is there when it is whole, and not before; searches see the old one until then.
    """
    if replace and upsert:
        raise InvalidRequest.of("--upsert", "does not go with --replace: give one of them")
    mode = IndexMode.REPLACE if replace else IndexMode.UPSERT if upsert else IndexMode.CREATE
    started = time.monotonic()
    built = asyncio.run(build_from_file(corpus, index, mode=mode))
    seconds = time.monotonic() - started
    counts = f" ({built.added:,} added, {built.replaced:,} replaced)" if upsert else ""
    what = f"{built.index.passages:,} passages{counts}, {_megabytes(built.index)}"
    print(f"{built.index.name}: {what}, version {built.index.version[:12]}, in {seconds:.1f} s")


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the indexes."""
    found = asyncio.run(_list())
    if as_json:
        print_json_lines(_record(each) for each in found)
    elif not found:
        print("No index yet. Build one: scaar index build --corpus passages.jsonl --index NAME")
    else:
        _show(found)


@app.command("describe")
def describe(name: Name, as_json: AsJson = False) -> None:
    """Tell what an index is and how it was built."""
    found = asyncio.run(_describe(name))
    if as_json:
        print_json_lines([_record(found)])
    else:
        for key, value in _record(found).items():
            print(f"{key:12}{value}")


@app.command("delete")
def delete(
    name: Name,
    passage_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="The passages.", show_default=False)
    ],
) -> None:
    """Take passages out of an index; those that are not there are passed over."""
    deleted = asyncio.run(_delete(name, passage_ids))
    print(f"{name}: {deleted:,} of {len(set(passage_ids)):,} passages deleted")


@app.command("drop")
def drop(name: Name) -> None:
    """Delete an index, whole or damaged."""
    asyncio.run(_drop(name))
    print(f"{name}: dropped")


async def _list() -> tuple[IndexDescription, ...]:
    async with open_local_indexes() as indexes:
        return await indexes.list_indexes()


async def _describe(name: str) -> IndexDescription:
    async with open_local_indexes() as indexes:
        return await indexes.describe_index(name)


async def _delete(name: str, passage_ids: list[str]) -> int:
    async with open_local_indexes() as indexes:
        return await indexes.delete_passages(name, passage_ids)


async def _drop(name: str) -> None:
    async with open_local_indexes() as indexes:
        await indexes.drop_index(name)


def _show(found: tuple[IndexDescription, ...]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("index", "passages", "size", "engine", "built", "version"):
        numeric = heading in ("passages", "size")
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=True)
    for each in found:
        table.add_row(
            each.name,
            f"{each.passages:,}",
            _megabytes(each),
            each.engine,
            each.created,
            each.version[:12],
        )
    Console().print(table)


def _record(index: IndexDescription) -> dict[str, object]:
    return {name: getattr(index, name) for name in IndexDescription.__dataclass_fields__}


def _megabytes(index: IndexDescription) -> str:
    return f"{index.size_bytes / 1e6:,.1f} MB"
