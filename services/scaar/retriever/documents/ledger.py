"""The record of which passages of an index came from which files and folders.

It is a file on the machine that reads the documents, so that a second run knows what to delete.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from scaar.core.errors import BackendUnavailable
from scaar.core.types import Passage

Digests = Mapping[str, str]
"""The digest of each passage by its id."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The passages of each root in the index of this version."""

    version: str = ""
    roots: Mapping[str, Digests] = field(default_factory=dict)
    state: str = ""
    """Digest of the files that were read last, and how; empty if some could not be read."""


def digests_of(passages: Iterable[Passage]) -> Digests:
    """Return the digest of each passage by its id."""
    return {
        passage.id: sha256(repr((passage.title, passage.metadata)).encode()).hexdigest()[:16]
        for passage in passages
    }


class LedgerFile:
    """The file of the ledger of one index, in a folder of ledgers.

    ``place`` names where the index is: indexes of the same name in other places have other ledgers.
    """

    def __init__(self, folder: Path, place: str, index: str) -> None:
        self.path = folder / f"{index}-{sha256(place.encode()).hexdigest()[:12]}.json"

    def read(self) -> Ledger | None:
        """Return the ledger; None if there is none, or only a damaged one."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return Ledger(
                str(found["version"]),
                {root: dict(digests) for root, digests in found["roots"].items()},
                str(found["state"]),
            )
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unavailable(error) from error
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def write(self, ledger: Ledger) -> None:
        """Replace the ledger in one step.

        Raises:
            BackendUnavailable: the file cannot be written.
        """
        roots = {root: dict(digests) for root, digests in ledger.roots.items()}
        text = json.dumps({"version": ledger.version, "roots": roots, "state": ledger.state})
        new = self.path.with_suffix(f".{os.getpid()}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(text, encoding="utf-8")
            new.replace(self.path)
        except OSError as error:
            raise self._unavailable(error) from error

    def delete(self) -> None:
        """Forget which passages came from where.

        Raises:
            BackendUnavailable: the file cannot be deleted.
        """
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: OSError) -> BackendUnavailable:
        reason = error.strerror or str(error)
        return BackendUnavailable(f"the record {self.path} cannot be used: {reason}")
