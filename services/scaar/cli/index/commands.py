"""``scaar index``: indexes of this machine, of an OpenSearch server, or of a retriever."""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from scaar.cli.addresses import RetrieverAddress
from scaar.cli.completion import complete_index
from scaar.cli.index import dense_options as options
from scaar.cli.index import document_options as documents
from scaar.cli.index.build import build_from_file
from scaar.cli.index.documents import build_from_documents, ledger_of
from scaar.cli.index.tables import (
    index_facts,
    index_record,
    megabytes,
    print_checks,
    print_indexes,
)
from scaar.cli.lab.commands import MAX_SEED
from scaar.cli.output_file import write_passages
from scaar.cli.tables import Format, facts_table, print_table
from scaar.compose import EMBEDDED, LAB_SEED, index_place, open_indexes, open_records
from scaar.core.distributions import lab_required
from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.plurals import counted
from scaar.core.records import RecordFilter
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
)
from scaar.core.validation import check_index_name
from scaar.retriever.corpus.corpus import CorpusFile
from scaar.retriever.metadata import check_fields
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.channel_security import read_channel_credentials
from scaar.runtime.health import wait_until_serving
from scaar.wire.retriever import SERVICE_NAME

app = typer.Typer(help="Build, inspect and change indexes of passages.", no_args_is_help=True)

MAX_WAIT_S = 7 * 86_400
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the index.", autocompletion=complete_index)
]
_CORPUS = typer.Option(
    metavar="FILE",
    help='File of passages: JSON lines {"id", "title", "text", "metadata"} (BEIR: _id; FlashRAG: '
    "contents), or .tsv with the columns id, text, title (DPR's psgs_w100); plain or gzip.",
    show_default=False,
)
Corpus = Annotated[Path, _CORPUS]
IgnoreMetadata = Annotated[
    bool, typer.Option("--ignore-metadata", help="Do not store the metadata of the file.")
]
IgnoreTitles = Annotated[
    bool,
    typer.Option(
        "--ignore-titles",
        help="Do not store the titles of the file, for texts that contain their title.",
    ),
]
Clean = Annotated[
    bool,
    typer.Option(
        "--clean",
        help="Replace control characters in titles and texts by spaces, instead of rejecting the "
        "file.",
    ),
]
Encoder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Sentence encoder (ONNX) of a dense index. Default: the setting "
        "SCAAR_RETRIEVER_ENCODER, else the encoder of scaar-english.",
    ),
]


@app.command("build")
def build(
    corpus: Annotated[Path | None, _CORPUS] = None,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of the index.", autocompletion=complete_index),
    ] = None,
    index: Annotated[
        str | None, typer.Option(metavar="NAME", help="Same as the argument NAME.")
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD[,FIELD]",
            help="Metadata fields to store and to filter by; repeatable. Passages must have no "
            "others.",
        ),
    ] = None,
    ignore_metadata: IgnoreMetadata = False,
    ignore_titles: IgnoreTitles = False,
    clean: Clean = False,
    lab: Annotated[
        bool, typer.Option("--lab", help="Use the passages of the lab's world instead of --corpus.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="S",
            min=0,
            max=MAX_SEED,
            help=f"With --lab: seed of the world. Default: {LAB_SEED}.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing index of that name.")
    ] = False,
    from_: documents.From = None,
    passage_words: documents.PassageWords = None,
    url_prefix: documents.UrlPrefix = None,
    max_file_mb: documents.MaxFileMb = None,
    strict: documents.Strict = False,
    watch: documents.Watch = False,
    watch_every: documents.WatchEvery = None,
    if_needed: Annotated[
        bool,
        typer.Option(
            "--if-needed",
            help="Do nothing if the index exists and `verify` finds no damage; else build or "
            "replace it.",
        ),
    ] = False,
    wait_s: Annotated[
        float,
        typer.Option(
            "--wait",
            min=0,
            max=MAX_WAIT_S,
            metavar="SECONDS",
            help="Maximum time to wait until the retriever at --address is serving, in seconds.",
        ),
    ] = 0,
    upsert: Annotated[
        bool,
        typer.Option(
            "--upsert", help="Add or replace passages, as `add` does; create the index if needed."
        ),
    ] = False,
    encoder: Encoder = None,
    hybrid: options.Hybrid = False,
    metric: options.Metric = None,
    search: options.Search = None,
    hnsw_m: options.HnswM = None,
    hnsw_ef_construction: options.HnswEfConstruction = None,
    hnsw_ef_search: options.HnswEfSearch = None,
    target: RetrieverAddress = EMBEDDED,
) -> None:
    """Build an index from a file of passages or documents.

    The index is of words (BM25), of vectors with --encoder, --metric or --search, or of both with
    --hybrid. Searches see the previous index until the new one is complete.
    """
    _check_one_source({"--corpus": corpus is not None, "--from": bool(from_), "--lab": lab})
    if seed is not None and not lab:
        raise InvalidRequest.of("--seed", "requires --lab")
    if wait_s and target == EMBEDDED:
        raise InvalidRequest.of("--wait", "requires the --address of a running retriever")
    if (name is None) == (index is None):
        raise InvalidRequest.of("NAME", "must be given once, as an argument or as --index")
    if (replace or if_needed) and upsert:
        raise InvalidRequest.of("--upsert", "cannot be combined with --replace or --if-needed")
    if metadata and ignore_metadata:
        raise InvalidRequest.of("--ignore-metadata", "cannot be combined with --metadata")
    fields = check_fields([field for each in metadata or () for field in each.split(",")])
    dense = options.dense_settings(
        metric,
        search,
        {"m": hnsw_m, "ef_construction": hnsw_ef_construction, "ef_search": hnsw_ef_search},
        encoder=encoder,
        hybrid=hybrid,
    )
    read = documents.document_options(
        from_,
        passage_words=passage_words,
        url_prefix=url_prefix,
        max_file_mb=max_file_mb,
        strict=strict,
        watch=watch,
        watch_every=watch_every,
    )
    if read is not None:
        of_files = {
            "--metadata": fields,
            "--ignore-metadata": ignore_metadata,
            "--ignore-titles": ignore_titles,
            "--clean": clean,
            "--if-needed": if_needed,
        }
        for option, given in of_files.items():
            if given:
                raise InvalidRequest.of(option, "cannot be combined with --from")
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
        print(f"{named}: is intact and stays as it is")
        return
    if read is not None:
        check_index_name(named)
        building = build_from_documents(
            named, read, mode=mode, dense=dense, encoder=encoder, target=target
        )
        if not asyncio.run(building):
            raise typer.Exit(1)
        return
    with TemporaryDirectory() as folder:
        world = LAB_SEED if seed is None else seed
        path = corpus or _lab_passages(Path(folder), world)
        file = _corpus_file(path, ignore_metadata, ignore_titles, clean)
        _index_file(
            file, named, mode=mode, fields=fields, dense=dense, encoder=encoder, target=target
        )


@app.command("add")
def add(
    name: Name,
    corpus: Corpus,
    ignore_metadata: IgnoreMetadata = False,
    ignore_titles: IgnoreTitles = False,
    clean: Clean = False,
    encoder: Encoder = None,
    target: RetrieverAddress = EMBEDDED,
) -> None:
    """Add passages to an index; passages with a known id are replaced.

    The index keeps its settings and its declared metadata fields.
    """
    check_index_name(name)
    asyncio.run(_describe(name, target))  # raises NotFound instead of creating the index
    file = _corpus_file(corpus, ignore_metadata, ignore_titles, clean)
    _index_file(file, name, mode=IndexMode.UPSERT, fields=(), encoder=encoder, target=target)


@app.command("list")
def list_(output: Format = None, target: RetrieverAddress = EMBEDDED) -> None:
    """List indexes, with the damage of damaged ones."""
    found = asyncio.run(_list(target))
    print_indexes(found, output)
    if not found:
        hint = "no index yet; build one: scaar index build NAME --corpus passages.jsonl"
        print(hint, file=sys.stderr)


@app.command("describe")
def describe(name: Name, output: Format = None, target: RetrieverAddress = EMBEDDED) -> None:
    """Describe an index and its build settings."""
    found = asyncio.run(_describe(name, target))
    print_table(facts_table(index_facts(found).items(), index_record(found)), output)


@app.command("verify")
def verify(
    name: Name,
    output: Format = None,
    target: RetrieverAddress = EMBEDDED,
) -> None:
    """Check everything that is stored of an index for damage.

    Files, checksums, counts and every passage are compared with the index's description. The exit
    status is 1 if a check fails.
    """
    found = asyncio.run(_verify(name, target))
    print_checks(found, output)
    if not found.is_whole:
        raise typer.Exit(1)


@app.command("delete")
def delete(
    name: Name,
    passage_ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Ids of passages.")
    ] = None,
    ids: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of further ids, one per line.")
    ] = None,
    target: RetrieverAddress = EMBEDDED,
) -> None:
    """Delete passages from an index; unknown ids are ignored."""
    requested = [*(passage_ids or ()), *(_lines_of(ids) if ids else ())]
    if not requested:
        raise InvalidRequest.of(
            "ID",
            "is missing; give ids of passages, or a file of them with --ids; scaar index drop "
            f"{name} deletes the index",
        )
    deleted = asyncio.run(_delete(name, requested, target))
    print(f"{name}: {deleted:,} of {counted(len(set(requested)), 'passage')} deleted")


@app.command("drop")
def drop(
    name: Name,
    records: Annotated[
        bool,
        typer.Option(
            "--records",
            help="Also delete the records of answers from this index, of this machine's database.",
        ),
    ] = False,
    target: RetrieverAddress = EMBEDDED,
) -> None:
    """Delete an index, even a damaged one.

    Which documents it was built from is forgotten too.
    """
    if records and target != EMBEDDED:
        text = f"cannot be combined with --address; run scaar records delete --index {name}"
        raise InvalidRequest.of("--records", text)
    asyncio.run(_drop(name, target))
    deleted = ""
    if records:
        count = asyncio.run(_delete_records(name))
        deleted = f", {counted(count, 'record')} of answers deleted"
    print(f"{name}: dropped{deleted}")


def _check_one_source(sources: Mapping[str, bool]) -> None:
    first, *others = [option for option, is_given in sources.items() if is_given] or [""]
    if not first:
        raise InvalidRequest.of("--corpus", "must be given, or --from, or --lab")
    if others:
        raise InvalidRequest.of(others[0], f"cannot be combined with {first}")


def _corpus_file(path: Path, ignore_metadata: bool, ignore_titles: bool, clean: bool) -> CorpusFile:
    return CorpusFile(
        path,
        metadata=not ignore_metadata,
        titles=not ignore_titles,
        clean=clean,
        limits=RetrieverSettings.read().build_limits,
    )


def _index_file(
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
    _report(built, mode, seconds=time.monotonic() - started)


def _report(built: IndexResult, mode: IndexMode, *, seconds: float) -> None:
    changed = mode is IndexMode.UPSERT
    counts = f" ({built.added:,} added, {built.replaced:,} replaced)" if changed else ""
    what = f"{counted(built.index.passages, 'passage')}{counts}, {megabytes(built.index)}"
    print(f"{built.index.name}: {what}, version {built.index.version[:12]}, in {seconds:.1f} s")


def _lab_passages(folder: Path, seed: int) -> Path:
    with lab_required("--lab"):
        from scaar.lab.passages import passages_of
        from scaar.lab.world import build_world

    path = folder / "lab.jsonl"
    found = passages_of(build_world(seed))
    write_passages(path, (Passage(each.id, each.title, each.text) for each in found))
    return path


def _lines_of(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest.of("--ids", f"{path} cannot be read as a text file") from error


async def _list(target: str) -> tuple[IndexDescription, ...]:
    async with open_indexes(target) as indexes:
        return await indexes.list_indexes()


async def _describe(name: str, target: str) -> IndexDescription:
    async with open_indexes(target) as indexes:
        return await indexes.describe_index(name)


async def _verify(name: str, target: str) -> IndexVerification:
    async with open_indexes(target) as indexes:
        return await indexes.verify_index(name)


async def _is_whole(name: str, target: str) -> bool:
    try:
        return (await _verify(name, target)).is_whole
    except NotFound:
        return False


async def _delete(name: str, passage_ids: Sequence[str], target: str) -> int:
    async with open_indexes(target) as indexes:
        return await indexes.delete_passages(name, passage_ids)


async def _delete_records(name: str) -> int:
    """Delete the records of answers from an index; there are none without a database."""
    try:
        async with open_records(EMBEDDED) as records:
            return await records.delete_records(RecordFilter(index=name))
    except NotFound:
        return 0


async def _drop(name: str, target: str) -> None:
    async with open_indexes(target) as indexes:
        await indexes.drop_index(name)
    ledger_of(name, index_place(target)).delete()
