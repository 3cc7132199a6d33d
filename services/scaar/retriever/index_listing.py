"""What indexes there are, told from their manifests without opening them."""

from dataclasses import replace

from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.types import IndexDescription
from scaar.retriever.conditions import unreadable
from scaar.retriever.index_cache import IndexCache
from scaar.retriever.index_files import IndexFiles
from scaar.retriever.loaded_index import check_files
from scaar.retriever.manifest import ENGINE, Manifest


def describe(files: IndexFiles, name: str) -> IndexDescription:
    """An index, its files' sizes compared with its manifest."""
    return manifest_of_whole(files, name).description()


def manifest_of_whole(files: IndexFiles, name: str) -> Manifest:
    """The manifest of an index whose files are there, in their sizes.

    Raises:
        NotFound: there is none of that name.
        DataCorrupt: naming what is damaged.
    """
    while True:
        manifest = files.read_manifest(name)
        try:
            check_files(files.root / name / manifest.folder, manifest, checksums=False)
        except DataCorrupt:
            # Replaced or dropped under our hands, its files went while they were looked at.
            if files.is_current(manifest):
                raise
        else:
            return manifest


def list_descriptions(files: IndexFiles, cache: IndexCache) -> tuple[IndexDescription, ...]:
    """Every index by name; of a damaged one, what is wrong and what can still be told."""
    found = []
    for name in files.names():
        try:
            cache.refuse_damaged(name)
            found.append(describe(files, name))
        except NotFound:
            continue  # dropped since its name was read
        except DataCorrupt as error:
            found.append(replace(_told(files, name), damage=error.metadata["damage"]))
    return tuple(found)


def _told(files: IndexFiles, name: str) -> IndexDescription:
    """What a damaged index can still say of itself."""
    try:
        return files.read_manifest(name).description()
    except (NotFound, DataCorrupt):
        return unreadable(name, ENGINE)
