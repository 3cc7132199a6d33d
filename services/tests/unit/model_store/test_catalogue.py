"""The catalogue of models."""

import re

from scaar.model_store.catalogue import (
    CATALOGUE,
    DEFAULT_MODEL,
    HubFile,
    ModelKind,
    entry_named,
    entry_of_digest,
)


def test_names_and_digests_are_unique_and_well_formed() -> None:
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE)
    assert len({entry.sha256 for entry in CATALOGUE}) == len(CATALOGUE)
    for entry in CATALOGUE:
        assert re.fullmatch(r"[a-z0-9.-]+", entry.name)
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.sources


def test_files_of_the_hub_are_pinned_to_a_commit() -> None:
    sources = [source for entry in CATALOGUE for source in entry.sources]
    for source in sources:
        assert not isinstance(source, HubFile) or re.fullmatch("[0-9a-f]{40}", source.revision)


def test_an_entry_is_found_by_its_name_and_by_the_digest_of_its_file() -> None:
    for entry in CATALOGUE:
        assert entry_named(entry.name) == entry
        assert entry_of_digest(entry.sha256.upper()) == entry
    assert entry_named("other") is None
    assert entry_of_digest("0" * 64) is None


def test_the_default_model_follows_instructions() -> None:
    entry = entry_named(DEFAULT_MODEL)
    assert entry is not None
    assert entry.kind is ModelKind.INSTRUCT
