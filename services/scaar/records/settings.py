"""The settings of the service of records, from ``SCAAR_RECORDS_*``."""

from pathlib import Path

from pydantic import Field, SecretStr

from scaar.runtime.settings import ServiceSettings, settings_of


class RecordsSettings(ServiceSettings):
    """Settings of the service of records: its database, and how long records are kept."""

    model_config = settings_of("records")

    database: SecretStr | None = None
    """URL of the database that orchestrators write to: ``sqlite:///FILE``, or
    ``postgresql://USER:PASSWORD@HOST/NAME``, whose tables ``scaar db upgrade --tables records``
    creates. Default: an SQLite file in the data folder, which is created if it does not exist."""

    database_file: Path | None = None
    """File that contains the URL of the database and nothing else; an alternative to
    ``database``."""

    operator_tenants: tuple[str, ...] = ()
    """Tenants of the ``identities_file`` whose callers can see and delete the records of all
    tenants, such as ``["operations"]``. Every other caller can access only those of its own
    tenant."""

    retention_days: float = Field(default=30.0, gt=0, le=36_500)
    """Number of days that a record is kept; then it is deleted."""

    max_mib: int = Field(default=4096, ge=1)
    """Maximum size of all records together, in MiB. If they need more, the oldest ones are
    deleted. The database needs additional space for its indexes."""

    cleaning_s: float = Field(default=300.0, gt=0)
    """Seconds between two deletions of records that are too old or too many."""
