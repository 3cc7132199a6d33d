"""``scaar index``: the indexes of this machine, of its OpenSearch server, or of a retriever."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from scaar.cli import dense_options as options
from scaar.cli.index_tables import index_facts, index_record, megabytes, show_checks, show_indexes
from scaar.cli.json_lines import print_json_lines
from scaar.cli.local_indexes import build_from_file
from scaar.cli.written_file import write_passages
from scaar.compose import EMBEDDED, LAB_SEED, open_retriever
from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
)
from scaar.retriever.corpus import CorpusFile
from scaar.retriever.metadata import check_fields
from scaar.retriever.settings import RetrieverSettings
from scaar.retriever.validation import check_index_name
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.health import wait_until_serving
from scaar.wire.retriever import SERVICE_NAME

app = typer.Typer(help="Build and keep indexes of passages.", no_args_is_help=True)

MAX_WAIT_S = 7 * 86_400
Name = Annotated[str, typer.Argument(metavar="NAME", help="The index.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="One index a line, as JSON.")]
Corpus = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help='Passages as JSON lines {"id", "title", "text", "metadata"} or as .tsv in the layout '
        "of DPR's psgs_w100 (id, text, title), plain or gzip.",
        show_default=False,
    ),
]
IgnoreMetadata = Annotated[
    bool, typer.Option("--ignore-metadata", help="Leave out the metadata of the file.")
]
Encoder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The sentence encoder, in ONNX, of an index of vectors; that of the settings if not "
        "given.",
        show_default=False,
    ),
]
Target = Annotated[
    str,
    typer.Option(
        help="A running retriever (dns:///host:port), an OpenSearch server (https://host:9200), or "
        "embedded."
    ),
]


@app.command("build")
def build(
    corpus: Corpus | None = None,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="What to call the index.", show_default=False),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The same as NAME.", show_default=False),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD[,FIELD]",
            help="The fields of metadata that passages may carry, to filter by.",
            show_default=False,
        ),
    ] = None,
    ignore_metadata: IgnoreMetadata = False,
    lab: Annotated[
        bool, typer.Option("--lab", help="The passages of the lab's world, instead of --corpus.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of an index of that name.")
    ] = False,
    if_needed: Annotated[
        bool,
        typer.Option(
            "--if-needed",
            help="Do nothing if `verify` finds the index whole; replace it if it is damaged.",
        ),
    ] = False,
    wait_s: Annotated[
        float,
        typer.Option(
            "--wait",
            min=0,
            max=MAX_WAIT_S,
            metavar="SECONDS",
            help="Wait at most this long until the retriever at --target is serving.",
        ),
    ] = 0,
    upsert: Annotated[
        bool,
        typer.Option("--upsert", help="As `add`; the index is made where it is not there."),
    ] = False,
    encoder: Encoder = None,
    metric: options.Metric = None,
    search: options.Search = None,
    hnsw_m: options.HnswM = None,
    hnsw_ef_construction: options.HnswEfConstruction = None,
    hnsw_ef_search: options.HnswEfSearch = None,
    target: Target = EMBEDDED,
) -> None:
    """Build an index from a file of passages: of words, or of vectors by --encoder or --search.

    It is there when it is whole, and not before; searches see the old one until then.
    """
    if (corpus is None) != lab:
        raise InvalidRequest.of("--corpus", "must be given, or --lab instead of it")
    if wait_s and target == EMBEDDED:
        raise InvalidRequest.of("--wait", "needs the --target of a running retriever")
    if (name is None) == (index is None):
        raise InvalidRequest.of("NAME", "must be given once, alone or as --index")
    if (replace or if_needed) and upsert:
        raise InvalidRequest.of("--upsert", "does not go with --replace and --if-needed")
    if metadata and ignore_metadata:
        raise InvalidRequest.of("--ignore-metadata", "does not go with --metadata")
    fields = check_fields([field for each in metadata or () for field in each.split(",")])
    dense = options.dense_settings(
        metric,
        search,
        {"m": hnsw_m, "ef_construction": hnsw_ef_construction, "ef_search": hnsw_ef_search},
        encoder=encoder,
    )
    replace = replace or if_needed
    mode = IndexMode.REPLACE if replace else IndexMode.UPSERT if upsert else IndexMode.CREATE
    named = str(index if name is None else name)
    if wait_s:
        credentials = read_channel_credentials()
        serving = wait_until_serving(
            target, SERVICE_NAME, timeout_s=wait_s, credentials=credentials
        )
        asyncio.run(serving)
    if if_needed and asyncio.run(_is_whole(named, target)):
        print(f"{named}: is whole and stays as it is")
        return
    with TemporaryDirectory() as folder:
        path = corpus or _lab_passages(Path(folder))
        file = _corpus_file(path, ignore_metadata)
        _put(file, named, mode=mode, fields=fields, dense=dense, encoder=encoder, target=target)


@app.command("add")
def add(
    name: Name,
    corpus: Corpus,
    ignore_metadata: IgnoreMetadata = False,
    encoder: Encoder = None,
    target: Target = EMBEDDED,
) -> None:
    """Put passages into an index: those of the same id are replaced, the others added.

    The index keeps its settings and its declared fields of metadata.
    """
    check_index_name(name)
    asyncio.run(_describe(name, target))  # one that is not there is told, and not made
    file = _corpus_file(corpus, ignore_metadata)
    _put(file, name, mode=IndexMode.UPSERT, fields=(), encoder=encoder, target=target)


@app.command("list")
def list_(as_json: AsJson = False, target: Target = EMBEDDED) -> None:
    """List the indexes; of a damaged one, what is wrong with it."""
    found = asyncio.run(_list(target))
    if as_json:
        print_json_lines(index_record(each) for each in found)
    elif not found:
        print("No index yet. Build one: scaar index build NAME --corpus passages.jsonl")
    else:
        show_indexes(found)


@app.command("describe")
def describe(name: Name, as_json: AsJson = False, target: Target = EMBEDDED) -> None:
    """Tell what an index is and how it was built."""
    found = asyncio.run(_describe(name, target))
    if as_json:
        print_json_lines([index_record(found)])
        return
    for key, value in index_facts(found).items():
        print(f"{key:17}{value}")


@app.command("verify")
def verify(
    name: Name,
    as_json: Annotated[bool, typer.Option("--json", help="One check a line, as JSON.")] = False,
    target: Target = EMBEDDED,
) -> None:
    """Hold all that is stored of an index, every passage too, against what the index says.

    Tells what is right and what is wrong; the status is 1 where something is wrong.
    """
    found = asyncio.run(_verify(name, target))
    if as_json:
        print_json_lines(
            {"name": each.name, "found": each.found, "right": each.right} for each in found.checks
        )
    else:
        show_checks(found)
    if not found.is_whole:
        raise typer.Exit(1)


@app.command("delete")
def delete(
    name: Name,
    passage_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="The passages.", show_default=False),
    ] = None,
    ids: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file of further ids, one a line.", show_default=False),
    ] = None,
    target: Target = EMBEDDED,
) -> None:
    """Take passages out of an index; those that are not there are passed over."""
    wanted = [*(passage_ids or ()), *(_lines_of(ids) if ids else ())]
    if not wanted:
        raise InvalidRequest.of("ID", "is missing; name passages, or a file of them by --ids")
    deleted = asyncio.run(_delete(name, wanted, target))
    print(f"{name}: {deleted:,} of {len(set(wanted)):,} passages deleted")


@app.command("drop")
def drop(name: Name, target: Target = EMBEDDED) -> None:
    """Delete an index, whole or damaged."""
    asyncio.run(_drop(name, target))
    print(f"{name}: dropped")


def _corpus_file(path: Path, ignore_metadata: bool) -> CorpusFile:
    limits = RetrieverSettings.read().build_limits
    return CorpusFile(path, metadata=not ignore_metadata, limits=limits)


def _put(
    file: CorpusFile,
    name: str,
    *,
    mode: IndexMode,
    fields: Sequence[str],
    target: str,
    encoder: Path | None,
    dense: DenseSettings | None = None,
) -> None:
    started = time.monotonic()
    built = asyncio.run(
        build_from_file(
            file, name, mode=mode, fields=fields, dense=dense, encoder=encoder, target=target
        )
    )
    _tell(built, mode, seconds=time.monotonic() - started)


def _tell(built: IndexResult, mode: IndexMode, *, seconds: float) -> None:
    changed = mode is IndexMode.UPSERT
    counts = f" ({built.added:,} added, {built.replaced:,} replaced)" if changed else ""
    what = f"{built.index.passages:,} passages{counts}, {megabytes(built.index)}"
    print(f"{built.index.name}: {what}, version {built.index.version[:12]}, in {seconds:.1f} s")


def _lab_passages(folder: Path) -> Path:
    from scaar.lab.passages import passages_of
    from scaar.lab.world import build_world

    path = folder / "lab.jsonl"
    found = passages_of(build_world(LAB_SEED))
    write_passages(path, (Passage(each.id, each.title, each.text) for each in found))
    return path


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest.of("--ids", f"{path} cannot be read as a text") from error


async def _list(target: str) -> tuple[IndexDescription, ...]:
    async with open_retriever(target) as indexes:
        return await indexes.list_indexes()


async def _describe(name: str, target: str) -> IndexDescription:
    async with open_retriever(target) as indexes:
        return await indexes.describe_index(name)


async def _verify(name: str, target: str) -> IndexVerification:
    async with open_retriever(target) as indexes:
        return await indexes.verify_index(name)


async def _is_whole(name: str, target: str) -> bool:
    try:
        return (await _verify(name, target)).is_whole
    except NotFound:
        return False


async def _delete(name: str, passage_ids: Sequence[str], target: str) -> int:
    async with open_retriever(target) as indexes:
        return await indexes.delete_passages(name, passage_ids)


async def _drop(name: str, target: str) -> None:
    async with open_retriever(target) as indexes:
        await indexes.drop_index(name)
