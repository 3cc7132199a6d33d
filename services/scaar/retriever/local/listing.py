"""Descriptions of the indexes on disk, from their manifests, without opening them."""

from dataclasses import replace

from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.types import IndexDescription
from scaar.retriever.conditions import unreadable
from scaar.retriever.local.cache import IndexCache
from scaar.retriever.local.files import IndexFiles
from scaar.retriever.local.loaded_index import check_files
from scaar.retriever.local.manifest import ENGINE, Manifest


def describe(files: IndexFiles, name: str) -> IndexDescription:
    """Return the description of an index whose files have the sizes of its manifest."""
    return read_valid_manifest(files, name).description()


def read_valid_manifest(files: IndexFiles, name: str) -> Manifest:
    """Return the manifest of an index whose files exist with the right sizes.

    Raises:
        NotFound: there is no such index.
        DataCorrupt: naming the damage.
    """
    while True:
        manifest = files.read_manifest(name)
        try:
            check_files(files.root / name / manifest.folder, manifest, checksums=False)
        except DataCorrupt:
            # If the index was replaced or dropped meanwhile, read the current one.
            if files.is_current(manifest):
                raise
        else:
            return manifest


def list_descriptions(files: IndexFiles, cache: IndexCache) -> tuple[IndexDescription, ...]:
    """Return every index by name. A damaged one has the damage and what its manifest contains."""
    found = []
    for name in files.names():
        try:
            cache.refuse_damaged(name)
            found.append(describe(files, name))
        except NotFound:
            continue  # dropped since its name was read
        except DataCorrupt as error:
            found.append(
                replace(_partial_description(files, name), damage=error.metadata["damage"])
            )
    return tuple(found)


def _partial_description(files: IndexFiles, name: str) -> IndexDescription:
    """Return the description of a damaged index, as far as its manifest can be read."""
    try:
        return files.read_manifest(name).description()
    except (NotFound, DataCorrupt):
        return unreadable(name, ENGINE)
