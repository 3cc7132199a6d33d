"""Opens the records of answers: what an orchestrator writes, and what a service reads."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose.databases import recorded_database, records_database
from scaar.compose.targets import EMBEDDED, open_service_channel
from scaar.core.distributions import library_required
from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.observers import RecordObserver
from scaar.core.ports import Records
from scaar.core.records import RecordContent
from scaar.core.types import AnswerRequest
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.wire import records

if TYPE_CHECKING:
    from scaar.records.recorder import RecordWatch
    from scaar.records.service import StoredRecords
    from scaar.records.settings import RecordsSettings

_LOGGER = logging.getLogger("scaar.records")
_MIN_KEY_BYTES = 16


@asynccontextmanager
async def open_recorder(
    settings: OrchestratorSettings, observer: RecordObserver
) -> AsyncIterator["Callable[[AnswerRequest], RecordWatch] | None"]:
    """Open the recorder of an orchestrator, and yield the factory of its watches.

    None if the orchestrator keeps no records. A database that does not respond does not keep the
    orchestrator from answering.

    Raises:
        InvalidRequest: a setting is missing or invalid.
        NotFound: the database has no tables of records.
        WrongState: the tables belong to another version.
        CapabilityMissing: a library is not installed.
    """
    url = recorded_database(settings)
    key = _hash_key(settings)
    if not url:
        yield None
        return
    with library_required("records_database", "records"):
        from scaar.database.database import open_database
        from scaar.database.migration import prepare
        from scaar.records.recorder import RecordLimits
        from scaar.records.recorder import open_recorder as open_writing
        from scaar.records.store.schema import SCHEMA
    limits = RecordLimits(
        settings.records_content,
        key,
        max_record_bytes=settings.records_max_record_kib << 10,
        max_waiting_bytes=settings.records_max_waiting_mib << 20,
    )
    async with open_database(url, SCHEMA) as database:
        try:
            await prepare(database, url)
        except BackendUnavailable as error:
            _LOGGER.warning("records wait: %s (%s)", error, error.detail)
        async with open_writing(database, limits, observer) as recorder:
            yield recorder.watch


@asynccontextmanager
async def open_records(target: str) -> AsyncIterator[Records]:
    """Open the records of a running service; for ``embedded``, those of this machine's database.

    The embedded records belong to no caller: all can be read, and none expires meanwhile.
    """
    if target != EMBEDDED:
        async with open_service_channel(target, records.SERVICE_NAME) as channel:
            yield records.RemoteRecords(channel, target)
        return
    with library_required("records", "records"):
        from scaar.database.database import open_database, require_file
        from scaar.database.migration import prepare
        from scaar.records.service import StoredRecords
        from scaar.records.settings import RecordsSettings
        from scaar.records.store.schema import SCHEMA
    url = records_database(RecordsSettings.read())
    require_file(url, SCHEMA)
    async with open_database(url, SCHEMA) as database:
        await prepare(database, url)
        yield StoredRecords(database)


@asynccontextmanager
async def open_stored_records(settings: "RecordsSettings") -> AsyncIterator["StoredRecords"]:
    """Open the records of a service."""
    with library_required("the service of records", "records"):
        from scaar.records.service import open_records
    async with open_records(settings, records_database(settings)) as stored:
        yield stored


def _hash_key(settings: OrchestratorSettings) -> bytes:
    """Return the key of digests; empty without digests."""
    path: Path | None = settings.records_hash_key_file
    if settings.records_content is not RecordContent.HASHED:
        return b""
    if path is None:
        raise InvalidRequest.of("records_hash_key_file", "is required for records_content hashed")
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        text = f"{path} cannot be read: {error.strerror}"
        raise InvalidRequest.of("records_hash_key_file", text) from error
    if len(key) < _MIN_KEY_BYTES:
        text = f"must have at least {_MIN_KEY_BYTES} bytes, not {len(key)}"
        raise InvalidRequest.of("records_hash_key_file", text)
    return key
