"""A database of records, and the records in it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.database.database import Database
from scaar.database.migration import open_checked_database
from scaar.records.service import StoredRecords
from scaar.records.store.schema import SCHEMA


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_checked_database(f"sqlite:///{tmp_path}/records.sqlite", SCHEMA) as database:
        yield database


@pytest.fixture
def records(database: Database) -> StoredRecords:
    return StoredRecords(database, operators=("operations",))
