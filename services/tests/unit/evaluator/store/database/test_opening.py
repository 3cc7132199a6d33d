import asyncio
import gc
from pathlib import Path

import pytest

from scaar.core.errors import BackendUnavailable, Overloaded
from scaar.database.database import Database, open_database
from scaar.database.migration import upgrade
from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    add_evaluation,
    get_evaluation,
    running_evaluations,
)
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.testing.evaluations import QUESTIONS

from .stored import SPEC


async def test_what_is_written_is_written_though_its_writer_is_cancelled(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/evaluations.sqlite"
    new = NewEvaluation("a", "default", "a", SPEC, QUESTIONS, len(SPEC.settings))
    async with open_database(url, SCHEMA) as database:
        await upgrade(database)
        writing = asyncio.ensure_future(add_evaluation(database, new, now=1.0, max_unfinished=8))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    async with open_database(url, SCHEMA) as database:
        assert (await get_evaluation(database, "a")).created_at == 1.0


async def test_the_error_of_abandoned_work_is_not_logged(
    database: Database,
) -> None:
    message: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: message.append(context))
    goes_on = asyncio.Event()

    async def refused() -> None:
        await goes_on.wait()
        raise Overloaded("no room", retry_after_s=1.0)

    writing = asyncio.ensure_future(database.shielded(refused()))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    goes_on.set()
    for _ in range(3):
        await asyncio.sleep(0)
    # It holds what was awaited.
    del writing
    gc.collect()
    assert message == []


@pytest.mark.filterwarnings("error::sqlalchemy.exc.SAWarning", "error::ResourceWarning")
async def test_work_that_starts_while_the_database_closes_is_refused_without_a_connection(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/evaluations.sqlite"
    refused = asyncio.Event()

    async def reader(database: Database) -> None:
        for _ in range(1_000):
            try:
                await running_evaluations(database)
            except BackendUnavailable:
                refused.set()
                return

    async with open_database(url, SCHEMA) as database:
        await upgrade(database)
        reading = asyncio.create_task(reader(database))
        await asyncio.sleep(0.01)
    await reading
    assert refused.is_set()
    gc.collect()
