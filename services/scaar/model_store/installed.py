"""What is known of a model on this machine, as a JSON file."""

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from scaar.core.errors import DataCorrupt
from scaar.model_store.catalogue import entry_named


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model on this machine: its file, and the digest by which the file is verified."""

    name: str
    path: str
    source: str
    size_bytes: int
    sha256: str
    published: bool
    """Whether the source or the catalogue states the digest; else it is that of the first file."""
    owned: bool
    """Whether the file was downloaded by scaar, so that removing the model deletes it."""

    def is_here(self) -> bool:
        """Return whether the file is in its place, whole; its content is not read."""
        path = Path(self.path)
        return path.is_file() and path.stat().st_size == self.size_bytes

    def is_own(self) -> bool:
        """Return whether the file is the user's own, which was named by its path."""
        return self.source == self.path

    def command(self) -> str:
        """Return the command that gets the model again."""
        wanted = self.name if entry_named(self.name) else f"{self.source} --name {self.name}"
        return f"scaar models get {wanted}"

    @classmethod
    def read(cls, record: Path) -> Self:
        """Return the model of a record.

        Raises:
            FileNotFoundError: there is no record.
            DataCorrupt: the record cannot be read.
        """
        try:
            values = json.loads(record.read_text())
            model = cls(**{field.name: values[field.name] for field in fields(cls)})
        except FileNotFoundError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataCorrupt(f"{record} cannot be read: delete it, and get the model again") from (
                error
            )
        return model

    def write(self, record: Path) -> None:
        """Write the record in one step, so that no reader sees half of it."""
        record.parent.mkdir(parents=True, exist_ok=True)
        pending = record.with_name(f".{record.name}.{os.getpid()}")
        pending.write_text(json.dumps(asdict(self), indent=2) + "\n")
        pending.replace(record)
