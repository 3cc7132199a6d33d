"""A database with two evaluations' worth of questions, in a file of SQLite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.database.database import Database, open_database
from scaar.database.migration import upgrade
from scaar.evaluator.store.database.schema import SCHEMA


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(f"sqlite:///{tmp_path}/evaluations.sqlite", SCHEMA) as database:
        await upgrade(database)
        yield database
