import asyncio
from pathlib import Path

import pytest

from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    add_evaluation,
    get_evaluation,
)
from scaar.evaluator.store.database.migrating import upgrade
from scaar.evaluator.store.database.opening import open_database
from scaar.testing.evaluations import QUESTIONS

from .stored import ASKED


async def test_what_is_written_is_written_though_its_writer_is_cancelled(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/evaluations.sqlite"
    new = NewEvaluation("a", "default", "a", ASKED, QUESTIONS)
    async with open_database(url) as database:
        await upgrade(database)
        writing = asyncio.ensure_future(add_evaluation(database, new, now=1.0, most_unfinished=8))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    async with open_database(url) as database:
        assert (await get_evaluation(database, "a")).created_at == 1.0
