"""The URLs of databases and brokers, from settings or files."""

from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose.targets import scaar_home
from scaar.core.errors import InvalidRequest, Violation

if TYPE_CHECKING:
    from pydantic import SecretStr

    from scaar.evaluator.settings import EvaluatorSettings
    from scaar.orchestrator.settings import OrchestratorSettings
    from scaar.records.settings import RecordsSettings

_OF_RECORDS = (
    "records_content",
    "records_hash_key_file",
    "records_max_record_kib",
    "records_max_waiting_mib",
)
"""Settings of an orchestrator that have no effect without a database of records."""


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
        InvalidRequest: the URL is set twice, its file cannot be read, or it is missing although
            other settings of records are set.
    """
    given, file = settings.records_database, settings.records_database_file
    if url := _secret_url("records_database", given, file):
        return url
    fields = type(settings).model_fields
    wrong = [name for name in _OF_RECORDS if getattr(settings, name) != fields[name].default]
    if wrong:
        raise InvalidRequest([Violation(name, "requires records_database") for name in wrong])
    return ""


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
