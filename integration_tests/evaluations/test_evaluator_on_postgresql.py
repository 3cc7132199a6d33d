"""The evaluator on a real PostgreSQL server keeps to all that one on SQLite does."""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from scaar.core.errors import BackendUnavailable, NotFound, ScaarError
from scaar.core.ports import Evaluator
from scaar.database.database import Database, open_database
from scaar.database.migration import check, newest
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.records import Question
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.specification import EvaluationSpec
from scaar.evaluator.store.database.evaluations import NewEvaluation, add_evaluation
from scaar.evaluator.store.database.predictions import ShardPredictions, every_prediction
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.tables import METADATA, PREDICTIONS
from scaar.testing import evaluations
from scaar.testing.commands import run_scaar
from scaar.testing.conformance.evaluator import EvaluatorConformance
from scaar.testing.sockets import TRANSPORTS, evaluator_by
from scaar.testing.steady_answerer import SteadyAnswerer

from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql

SETTINGS = EvaluatorSettings(
    attempts=2,
    patience_s=0.0,
    attempt_pause_s=0.01,
    shard_predictions=6,
    concurrent_shards=3,
    max_unfinished=3,
    max_questions=40,
)


NUMBERS = itertools.count()


@pytest.fixture
def database_url(postgresql: PostgresqlServer) -> str:
    """An empty database of the test's own."""
    name = f"kept_{next(NUMBERS)}"
    postgresql.execute(f"CREATE DATABASE {name}")
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

    async with open_database(migrated_url, SCHEMA) as database:
        assert await check(database) == newest(SCHEMA)
        async with database.reading() as connection:
            assert await connection.run_sync(differences) == []


async def test_a_database_without_tables_prevents_the_start(
    database_url: str,
) -> None:
    opened = open_evaluator(SETTINGS, SteadyAnswerer(), database_url=database_url, lab_index=str)
    with pytest.raises(NotFound, match="create them with scaar db upgrade"):
        async with opened:
            pass


class RolledBack(Exception):
    """Ends a transaction that is not to be kept."""


def store_row(evaluation: int, *, question: int) -> sa.Insert:
    """Return a statement that blocks every other writer of the same prediction."""
    row = {"evaluation": evaluation, "question": question, "setting": 0, "settled": False}
    reported = {"failed": False, "attempts": 1, "score": 0.0, "retrievals": 0, "record": ""}
    return sa.insert(PREDICTIONS).values(row | reported)


async def waiting_for_locks(database: Database) -> int:
    """How many transactions wait for another one's."""
    counted = sa.text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    async with database.reading() as connection:
        return int(await connection.scalar(counted) or 0)


async def test_concurrent_writers_of_the_same_predictions_wait_for_each_other(
    migrated_url: str,
) -> None:
    questions = tuple(Question(f"q{at}", f"Who is {at}?", ("Ada",), "Ada") for at in range(40))
    requested = EvaluationSpec(evaluations.EVALUATION.dataset, evaluations.SETTINGS, "lab", 60.0)
    made = [evaluations.prediction(evaluations.LABELS[0], each.id) for each in questions]
    async with open_database(migrated_url, SCHEMA) as database:
        new = NewEvaluation("a", "default", "a", requested, questions, len(evaluations.SETTINGS))
        stored = await add_evaluation(database, new, now=1.0, max_unfinished=8)
        store = ShardPredictions(
            database,
            stored.number,
            first=0,
            questions=questions,
            settings=evaluations.SETTINGS,
            kind=LAB,
            attempts=1,
        )
        held = store_row(stored.number, question=len(made) // 2)
        with suppress(RolledBack):
            async with database.writing() as connection:
                await connection.execute(held)
                adding = asyncio.gather(store.add(made), store.add(made[::-1]))
                async with asyncio.timeout(60):
                    while await waiting_for_locks(database) < 2:
                        pass
                raise RolledBack
        await adding
        kept = [each async for each in every_prediction(database, stored.number)]
    assert kept == made


async def test_a_transaction_aborted_for_another_may_be_retried(
    migrated_url: str,
) -> None:
    async def locks(database: Database, one: asyncio.Event, other: asyncio.Event, at: int) -> None:
        async with database.writing() as connection:
            await connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({at})"))
            one.set()
            await other.wait()
            await connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({1 - at})"))

    first, second = asyncio.Event(), asyncio.Event()
    async with open_database(migrated_url, SCHEMA) as database:
        ended = await asyncio.gather(
            locks(database, first, second, 0),
            locks(database, second, first, 1),
            return_exceptions=True,
        )
    (given_up,) = [each for each in ended if each is not None]
    assert isinstance(given_up, BackendUnavailable)


async def test_a_server_that_is_shutting_down_is_unavailable() -> None:
    async def connect_until_refused(url: str) -> None:
        while True:
            async with open_database(url, SCHEMA) as database, database.reading() as connection:
                await connection.execute(sa.text("SELECT 1"))

    with running_postgresql() as server:
        async with (
            open_database(server.url(), SCHEMA) as database,
            database.reading() as connection,
        ):
            await connection.execute(sa.text("SELECT 1"))
            # The server waits for this connection to end, and refuses new ones meanwhile.
            os.kill(server.process.pid, signal.SIGTERM)
            async with asyncio.timeout(60):
                with pytest.raises(BackendUnavailable) as caught:
                    await connect_until_refused(server.url())
    assert "the database system is shutting down" in caught.value.detail


async def test_a_database_that_is_read_only_or_hangs_cannot_be_written(
    migrated_url: str, postgresql: PostgresqlServer
) -> None:
    name = migrated_url.rpartition("/")[2]
    postgresql.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    async with open_database(migrated_url, SCHEMA) as database:
        with pytest.raises(ScaarError) as caught:
            await database.check_writable()
        assert "127.0.0.1" not in caught.value.message
        assert "read-only" in caught.value.detail
    postgresql.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    async with open_database(migrated_url, SCHEMA) as database:
        await database.check_writable()
    async with (
        open_database(migrated_url, SCHEMA) as database,
        open_database(migrated_url, SCHEMA) as other,
    ):
        async with other.writing() as connection:
            await connection.execute(sa.text("LOCK TABLE alembic_version"))
            with pytest.raises(BackendUnavailable, match="is not available"):
                await database.check_writable(timeout_s=0.2)
        # The trial that hung is the one that is waited for.
        await database.check_writable()
