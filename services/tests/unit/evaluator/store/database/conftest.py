"""A database with two evaluations' worth of questions, in a file of SQLite."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.evaluator.store.database.database import Database, open_database
from scaar.evaluator.store.database.migration import upgrade


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(f"sqlite:///{tmp_path}/evaluations.sqlite") as database:
        await upgrade(database)
        yield database
