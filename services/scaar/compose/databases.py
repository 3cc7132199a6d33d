"""The URLs of databases and brokers, from settings or files."""

from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose.targets import scaar_home
from scaar.core.errors import InvalidRequest

if TYPE_CHECKING:
    from pydantic import SecretStr

    from scaar.evaluator.settings import EvaluatorSettings
    from scaar.orchestrator.settings import OrchestratorSettings
    from scaar.records.settings import RecordsSettings


def evaluator_broker(settings: "EvaluatorSettings") -> str:
    """Return the URL of the workers' broker, with its password.

    Raises:
        InvalidRequest: the URL is missing or set twice, or its file cannot be read.
    """
    if found := _secret_url("broker", settings.broker, settings.broker_file):
        return found
    text = "must be set for workers, or executor=poll: redis://HOST:PORT/NUMBER"
    raise InvalidRequest.of("broker", text)


def evaluator_database(settings: "EvaluatorSettings") -> str:
    """Return the URL of the database of evaluations, with its password.

    Raises:
        InvalidRequest: the URL is set twice, or its file cannot be read.
    """
    found = _secret_url("database", settings.database, settings.database_file)
    return found or f"sqlite:///{scaar_home() / 'evaluations.sqlite'}"


def records_database(settings: "RecordsSettings") -> str:
    """Return the URL of the database that a service of records reads, with its password.

    Raises:
        InvalidRequest: the URL is set twice, or its file cannot be read.
    """
    found = _secret_url("database", settings.database, settings.database_file)
    return found or default_records_database()


def recorded_database(settings: "OrchestratorSettings") -> str:
    """Return the URL of the database that an orchestrator writes records to; empty without one.

    Raises:
        InvalidRequest: the URL is set twice, or its file cannot be read.
    """
    given, file = settings.records_database, settings.records_database_file
    return _secret_url("records_database", given, file)


def default_records_database() -> str:
    """Return the URL of the records in the data folder."""
    return f"sqlite:///{scaar_home() / 'records.sqlite'}"


def _secret_url(name: str, given: "SecretStr | None", file: Path | None) -> str:
    if given is not None and file is not None:
        raise InvalidRequest.of(f"{name}_file", f"cannot be combined with {name}: set one of them")
    if file is not None:
        try:
            return file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest.of(f"{name}_file", f"{file} cannot be read: {error}") from error
    return "" if given is None else given.get_secret_value()
