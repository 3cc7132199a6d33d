"""The models on this machine: a folder with a record for each, and the files that it owns."""

import shutil
from pathlib import Path

from scaar.core.errors import DataCorrupt, NotFound, ScaarError
from scaar.model_store import hub
from scaar.model_store.catalogue import entry_named, unknown_model
from scaar.model_store.files import aside, digest_of, set_aside
from scaar.model_store.installed import InstalledModel
from scaar.runtime.disk import write_problem


class ModelStore:
    """The models of a folder, by name. The folder need not exist.

    Files of the Hugging Face hub stay in the hub's cache, and files that were named by their path
    stay where they are; the folder has those of other sources.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def installed(self) -> list[InstalledModel]:
        """Return the models on this machine, by name, also those whose file is missing."""
        return [InstalledModel.read(record) for record in sorted(self.folder.glob("*.json"))]

    def find(self, name: str) -> InstalledModel | None:
        """Return the model of a name; None if this machine has no record of it."""
        if not is_model_name(name):
            return None
        try:
            return InstalledModel.read(self.record_of(name))
        except FileNotFoundError:
            return None

    def installed_model(self, name: str) -> InstalledModel:
        """Return the model of a name.

        Raises:
            NotFound: this machine has no record of it; lists those that it has.
        """
        if (found := self.find(name)) is None:
            here = ", ".join(model.name for model in self.installed()) or "none"
            raise NotFound(f"the model {name} is not on this machine; those that are: {here}")
        return found

    def resolve(self, model: str) -> Path:
        """Return the GGUF file of a model's name, or of a path.

        Raises:
            NotFound: the model or its file is not on this machine; the error says what to run.
        """
        if not is_model_name(model):
            path = Path(model).expanduser()
            if not path.is_file():
                raise NotFound(
                    f"{path} is not a file; name a GGUF file or a model of the catalogue"
                )
            return path
        found = self.find(model)
        if found is not None and found.is_here():
            return Path(found.path)
        if found is None and entry_named(model) is None:
            raise unknown_model(model)
        command = f"scaar models get {model}" if found is None else found.command()
        raise NotFound(f"the model {model} is not on this machine: run {command}")

    def verify(self, name: str) -> InstalledModel:
        """Return a model whose file has its recorded digest.

        Raises:
            NotFound: the model or its file is not on this machine.
            DataCorrupt: the file is another; it was set aside unless it is the user's own.
        """
        found = self.installed_model(name)
        path = Path(found.path)
        if not path.is_file():
            raise NotFound(f"{path} of the model {name} is missing: run {found.command()}")
        check_content(path, found)
        return found

    def add(self, model: InstalledModel) -> InstalledModel:
        """Record a model, in place of one of the same name, and return it.

        Raises:
            ScaarError: the folder cannot be written.
        """
        record = self.record_of(model.name)
        try:
            model.write(record)
        except OSError as error:
            raise ScaarError(write_problem(record, error)) from error
        return model

    def remove(self, name: str) -> int:
        """Forget a model, delete its file if scaar downloaded it, and return the freed bytes.

        Raises:
            NotFound: this machine has no record of the model.
        """
        found = self.installed_model(name)
        path = Path(found.path)
        files = (path, aside(path)) if found.owned else ()
        freed = sum(file.stat().st_size for file in files if file.is_file())
        if found.owned and self.file_folder(name) in path.parents:
            shutil.rmtree(self.file_folder(name), ignore_errors=True)
        elif found.owned:
            aside(path).unlink(missing_ok=True)
            hub.delete_cached(path)
        self.record_of(name).unlink()
        return freed

    def record_of(self, name: str) -> Path:
        """Return the place of a model's record."""
        return self.folder / f"{name}.json"

    def file_folder(self, name: str) -> Path:
        """Return the folder of a model's file, if the store owns it."""
        return self.folder / name


def check_content(path: Path, model: InstalledModel) -> None:
    """Check that a file has the digest of a model; any other is set aside.

    Raises:
        DataCorrupt: it has another one; says what to run.
    """
    if path.stat().st_size == model.size_bytes and digest_of(path) == model.sha256:
        return
    if model.is_own():
        text = f"{path} has changed since it was named {model.name}"
        raise DataCorrupt(f"{text}: run {model.command()} to use it as it is")
    expected = "published" if model.published else "first downloaded"
    raise DataCorrupt(
        f"the file of {model.name} is not the one that was {expected}: it is kept as "
        f"{set_aside(path)}; run {model.command()}"
    )


def is_model_name(model: str) -> bool:
    """Return whether a text is a name of a model, not the path of a file."""
    return "/" not in model and not model.endswith(".gguf")
