"""The evaluations of a folder, which one process at a time runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from scaar.core.errors import InvalidRequest, NotFound
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.folder import DATABASE, database_url, held

_KEPT_DAYS = 36_500.0


@contextmanager
def open_folder(
    folder: Path, settings: EvaluatorSettings, run: bool
) -> Iterator[EvaluatorSettings]:
    """Hold a folder for this process to run its evaluations, or check that it has any.

    Gives the settings of its evaluator, which executes in this process and keeps evaluations.

    Raises:
        InvalidRequest: it is a file, or another process runs its evaluations.
        NotFound: without ``run``: the folder has no evaluations.
        ScaarError: the folder cannot be created.
    """
    folder = folder.expanduser()
    update = {
        "database": SecretStr(database_url(folder)),
        "database_file": None,
        "executor": "in_process",
        "retention_days": _KEPT_DAYS,
    }
    settings = settings.model_copy(update=update)
    if not run:
        if not (folder / DATABASE).exists():
            raise NotFound(f"{folder} has no evaluations: there is no {DATABASE}")
        yield settings
        return
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest.of("--target", f"{folder} is not a folder")
    with held(folder, field="--target"):
        yield settings
