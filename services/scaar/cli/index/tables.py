"""Tables of indexes and of the checks of one index."""

import sys
from collections.abc import Sequence
from dataclasses import asdict

from scaar.cli.tables import Column, Table, TableFormat, Value, print_table
from scaar.core.types import IndexDescription, IndexVerification, SearchMode
from scaar.retriever.dense import settings_text


def print_indexes(found: Sequence[IndexDescription], output: TableFormat | None) -> None:
    """Print a row for each index, then on standard error the damage of damaged ones."""
    columns = (
        Column("index", right=False),
        Column("passages", text=_count),
        Column("size_bytes", "size", _megabytes),
        *(Column(name, right=False) for name in ("engine", "built", "version")),
        Column("metadata", right=False),
    )
    rows = [
        (
            each.name,
            each.passages,
            each.size_bytes,
            each.engine,
            each.created,
            "damaged" if each.damage else each.version[:12],
            ", ".join(each.metadata_fields),
        )
        for each in found
    ]
    print_table(Table(columns, rows, [index_record(each) for each in found]), output)
    for each in found:
        if each.damage:
            text = f"{each.name} is damaged: {each.damage}; details: scaar index verify {each.name}"
            print(text, file=sys.stderr)


def print_checks(found: IndexVerification, output: TableFormat | None) -> None:
    """Print a row for each check, then on standard error whether the index is damaged."""
    columns = (
        Column("result", right=False, text=lambda passed: "ok" if passed else "FAILED"),
        Column("check", right=False),
        Column("found", right=False),
    )
    rows = [(each.passed, each.name, each.found) for each in found.checks]
    records = [
        {"name": each.name, "found": each.found, "passed": each.passed} for each in found.checks
    ]
    print_table(Table(columns, rows, records), output)
    failed = sum(not each.passed for each in found.checks)
    state = f"damaged, {failed} of {len(found.checks)} checks failed" if failed else "intact"
    version = f", version {found.version[:12]}" if found.version else ""
    print(f"{found.index}: {state}{version}", file=sys.stderr)


def index_record(index: IndexDescription) -> dict[str, object]:
    """Return an index as a JSON object, by the names of its fields."""
    return asdict(index)


def index_facts(index: IndexDescription) -> dict[str, object]:
    """Return the properties of an intact index, each as one line of text."""
    facts = index_record(index)
    dense = index.dense
    by_words = SearchMode.WORDS in index.modes
    for name in ("damage", "dense", *(() if by_words else ("k1", "b"))):
        del facts[name]
    facts["metadata_fields"] = ", ".join(index.metadata_fields) or "none"
    facts["content"] = index.content[:12] or "unknown"
    facts["modes"] = ", ".join(index.modes)
    facts["reranker"] = index.reranker or "none"
    if dense is not None:
        facts["encoder"] = dense.encoder
        facts["encoder_revision"] = dense.encoder_revision
        facts["width"] = dense.width
        facts["search"] = settings_text(dense.settings)
    return facts


def megabytes(index: IndexDescription) -> str:
    """Return the size of an index on disk, in megabytes."""
    return _megabytes(index.size_bytes)


def _megabytes(size_bytes: Value) -> str:
    assert isinstance(size_bytes, int)
    return f"{size_bytes / 1e6:,.1f} MB"


def _count(number: Value) -> str:
    return f"{number:,}"
