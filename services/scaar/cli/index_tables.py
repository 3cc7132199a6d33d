"""Indexes, and what was found right and wrong with one, as the terminal shows them."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from scaar.core.types import IndexDescription, IndexVerification
from scaar.retriever.dense import told_settings


def show_indexes(found: Sequence[IndexDescription]) -> None:
    """Prints a line for each index, then what is wrong with the damaged ones."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("index", "passages", "size", "engine", "built", "version", "metadata"):
        numeric = heading in ("passages", "size")
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=True)
    for each in found:
        table.add_row(
            each.name,
            f"{each.passages:,}",
            megabytes(each),
            each.engine,
            each.created,
            "damaged" if each.damage else each.version[:12],
            ", ".join(each.metadata_fields),
        )
    console = Console(highlight=False)
    console.print(table)
    for each in found:
        if each.damage:
            console.print(
                f"{each.name} is damaged: {each.damage}; look closer: scaar index verify "
                f"{each.name}",
                markup=False,
                soft_wrap=True,
            )


def show_checks(found: IndexVerification) -> None:
    """Prints a line for each thing that was looked at, then whether the index is whole."""
    console = Console(highlight=False)
    width = max(len(each.name) for each in found.checks)
    for each in found.checks:
        mark = Text("right  ", "green") if each.right else Text("wrong  ", "bold red")
        console.print(Text.assemble(mark, f"{each.name:{width}}  {each.found}"), soft_wrap=True)
    wrong = sum(not each.right for each in found.checks)
    state = f"damaged, {wrong} of {len(found.checks)} checks are wrong" if wrong else "whole"
    version = f", version {found.version[:12]}" if found.version else ""
    console.print(f"{found.index}: {state}{version}", markup=False, soft_wrap=True)


def index_record(index: IndexDescription) -> dict[str, object]:
    """An index by the names of its fields, as it is written as JSON."""
    return asdict(index)


def index_facts(index: IndexDescription) -> dict[str, object]:
    """What there is to say of an index that is whole, each in a line of words."""
    facts = index_record(index)
    dense = index.dense
    for name in ("damage", "dense", *(("k1", "b") if dense else ())):
        del facts[name]
    facts["metadata_fields"] = ", ".join(index.metadata_fields) or "none"
    facts["content"] = index.content[:12] or "unknown"
    if dense is not None:
        facts["encoder"] = dense.encoder
        facts["encoder_revision"] = dense.encoder_revision
        facts["width"] = dense.width
        facts["search"] = told_settings(dense.settings)
    return facts


def megabytes(index: IndexDescription) -> str:
    """What an index takes on disk."""
    return f"{index.size_bytes / 1e6:,.1f} MB"
