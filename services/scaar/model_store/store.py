"""The models on this machine: a folder with a record for each, and the files that it owns."""

from pathlib import Path

from scaar.core.errors import NotFound
from scaar.model_store.catalogue import entry_named, unknown_model
from scaar.model_store.installed import InstalledModel


class ModelStore:
    """The models of a folder, by name. The folder need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def installed(self) -> list[InstalledModel]:
        """Return the models on this machine, by name."""
        return [InstalledModel.read(record) for record in sorted(self.folder.glob("*.json"))]

    def find(self, name: str) -> InstalledModel | None:
        """Return the model of a name; None if it is not on this machine."""
        try:
            return InstalledModel.read(self.record_of(name))
        except FileNotFoundError:
            return None

    def resolve(self, model: str) -> Path:
        """Return the GGUF file of a model's name, or of a path.

        Raises:
            NotFound: the model or its file is not on this machine; the error says what to run.
        """
        if not _is_name(model):
            path = Path(model).expanduser()
            if not path.is_file():
                raise NotFound(
                    f"{path} is not a file; name a GGUF file or a model of the catalogue"
                )
            return path
        found = self.find(model)
        if found is not None and Path(found.path).is_file():
            return Path(found.path)
        if found is None and entry_named(model) is None:
            raise unknown_model(model)
        source = found.source if found is not None else ""
        wanted = model if entry_named(model) is not None else source
        raise NotFound(f"the model {model} is not on this machine: run scaar models get {wanted}")

    def record_of(self, name: str) -> Path:
        """Return the place of a model's record."""
        return self.folder / f"{name}.json"


def _is_name(model: str) -> bool:
    """Return whether a text is a name of a model, not the path of a file."""
    return "/" not in model and not model.endswith(".gguf")
