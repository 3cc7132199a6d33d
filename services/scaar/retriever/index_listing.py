"""What indexes there are, told from their manifests without opening them."""

import logging

from scaar.core.errors import DataCorrupt, NotFound
from scaar.core.types import IndexDescription
from scaar.retriever.index_files import IndexFiles
from scaar.retriever.loaded_index import check_files

_log = logging.getLogger(__name__)


def describe(files: IndexFiles, name: str) -> IndexDescription:
    """An index, its files' sizes compared with its manifest.

    Raises:
        NotFound: there is none of that name.
        DataCorrupt: naming what is damaged.
    """
    while True:
        stamp, manifest = files.stamp(name), files.read_manifest(name)
        try:
            check_files(files.root / name / manifest.folder, manifest, checksums=False)
        except (DataCorrupt, FileNotFoundError):
            # Replaced under our hands, its files went while they were looked at.
            if stamp == files.stamp(name):
                raise
        else:
            return manifest.description()


def list_descriptions(files: IndexFiles) -> tuple[IndexDescription, ...]:
    """Every index whose manifest can be read, by name; a damaged one is told to the log."""
    found = []
    for name in files.names():
        try:
            found.append(files.read_manifest(name).description())
        except NotFound:
            continue  # dropped since its name was read
        except DataCorrupt as error:
            _log.warning("left out of the list: %s", error.message)
    return tuple(found)
