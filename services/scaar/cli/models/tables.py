"""Models as tables: the catalogue with what is on this machine, and one model."""

from collections.abc import Sequence
from dataclasses import asdict

from scaar.cli.tables import Column, Table, TableFormat, Value, facts_table, print_table
from scaar.model_store.catalogue import (
    CATALOGUE,
    CatalogueEntry,
    entry_named,
    unknown_model,
)
from scaar.model_store.installed import InstalledModel
from scaar.runtime.disk import size_text


def model_table(installed: Sequence[InstalledModel]) -> Table:
    """Return the models of the catalogue, then the others on this machine."""
    here = {model.name: model for model in installed}
    names = dict.fromkeys([*(entry.name for entry in CATALOGUE), *here])
    columns = (
        Column("model", right=False),
        Column("kind", right=False, text=_text),
        Column("licence", right=False, text=_text),
        Column("size_bytes", "size", _size),
        Column("context_tokens", "context", _text),
        Column("tried", text=_yes, right=False),
        Column("bytes_on_disk", "on disk", _size),
        Column("description", right=False, text=_text),
    )
    found = [(name, entry_named(name), here.get(name)) for name in names]
    return Table(columns, [_row(*facts) for facts in found], [_record(*facts) for facts in found])


def print_model(name: str, model: InstalledModel | None, output: TableFormat | None) -> None:
    """Print what is known of a model.

    Raises:
        NotFound: neither the catalogue nor this machine has it.
    """
    entry = entry_named(name)
    if entry is None and model is None:
        raise unknown_model(name)
    facts: list[tuple[str, object]] = [("model", name)]
    if entry is not None:
        facts += [
            ("description", entry.description),
            ("kind", entry.kind),
            ("licence", entry.licence),
            ("size", f"{size_text(entry.size_bytes)} ({entry.size_bytes:,} bytes)"),
            ("context", f"{entry.context_tokens:,} tokens"),
            ("sources", ", ".join(str(source) for source in entry.sources)),
            ("SHA-256", entry.sha256),
            ("tried", "yes" if entry.tried else "no: this project has not run this file"),
        ]
    if model is None:
        facts.append(("file", f"not on this machine: scaar models get {name}"))
    else:
        facts += _file_facts(model)
    print_table(facts_table(facts, _record(name, entry, model)), output)


def _file_facts(model: InstalledModel) -> list[tuple[str, object]]:
    digest = "published" if model.published else "of the first download"
    facts: list[tuple[str, object]] = [
        ("file", model.path if model.is_here() else f"{model.path} (missing or incomplete)"),
        ("from", model.source),
        ("verified by", f"SHA-256 {model.sha256} ({digest})"),
    ]
    return facts


def _row(
    name: str, entry: CatalogueEntry | None, model: InstalledModel | None
) -> tuple[Value, ...]:
    on_disk = model.size_bytes if model is not None and model.is_here() else None
    if entry is None:
        source = None if model is None else model.source
        return name, None, None, None, None, None, on_disk, source
    facts = (entry.kind, entry.licence, entry.size_bytes, entry.context_tokens, entry.tried)
    return name, *facts, on_disk, entry.description


def _record(
    name: str, entry: CatalogueEntry | None, model: InstalledModel | None
) -> dict[str, object]:
    catalogue = None
    if entry is not None:
        catalogue = {**asdict(entry), "sources": [str(source) for source in entry.sources]}
    installed = None if model is None else {**asdict(model), "here": model.is_here()}
    return {"model": name, "catalogue": catalogue, "installed": installed}


def _text(value: Value) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _size(value: Value) -> str:
    return "-" if value is None else size_text(float(str(value)))


def _yes(value: Value) -> str:
    return "-" if value is None else "yes" if value else "no"
