"""The evaluator on a real PostgreSQL server keeps to all that one on SQLite does."""

import itertools
from collections.abc import AsyncIterator

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from scaar.core.errors import NotFound
from scaar.core.ports import Evaluator
from scaar.evaluator.service.opening import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.migrating import check, newest
from scaar.evaluator.store.database.opening import open_database
from scaar.evaluator.store.database.tables import METADATA
from scaar.testing.commands import run_scaar
from scaar.testing.conformance.evaluator import EvaluatorConformance
from scaar.testing.sockets import TRANSPORTS, evaluator_by
from scaar.testing.steady_answerer import SteadyAnswerer

from ..servers.postgresql.postgresql_server import PostgresqlServer

SETTINGS = EvaluatorSettings(
    attempts=2,
    patience_s=0.0,
    attempt_pause_s=0.01,
    shard_predictions=6,
    shards_at_once=3,
    max_unfinished=3,
    max_questions=40,
)


NUMBERS = itertools.count()


@pytest.fixture
def database_url(postgresql: PostgresqlServer) -> str:
    """An empty database of the test's own."""
    name = f"kept_{next(NUMBERS)}"
    postgresql.asked(f"CREATE DATABASE {name}")
    return postgresql.url(name)


@pytest.fixture
def migrated_url(database_url: str) -> str:
    ran = run_scaar("db", "upgrade", "--database", database_url)
    assert (ran.status, ran.err) == (0, "")
    return database_url


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestOnPostgresql(EvaluatorConformance):
    @pytest.fixture
    async def evaluator(  # type: ignore[override]
        self, transport: str, answerer: SteadyAnswerer, migrated_url: str
    ) -> AsyncIterator[Evaluator]:
        opened = open_evaluator(SETTINGS, answerer, database_url=migrated_url, lab_index=str)
        async with opened as hosted, evaluator_by(transport, hosted) as evaluator:
            yield evaluator


async def test_the_steps_make_the_tables_that_the_code_reads(migrated_url: str) -> None:
    def differences(connection: sa.Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), METADATA))

    async with open_database(migrated_url) as database:
        assert await check(database) == newest()
        async with database.reading() as connection:
            assert await connection.run_sync(differences) == []


async def test_a_database_without_tables_keeps_the_service_from_starting(
    database_url: str,
) -> None:
    opened = open_evaluator(SETTINGS, SteadyAnswerer(), database_url=database_url, lab_index=str)
    with pytest.raises(NotFound, match="make them with scaar db upgrade"):
        async with opened:
            pass
