import asyncio
from contextlib import suppress

from scaar.evaluator.execution.stopping import stopped


async def test_a_task_that_takes_a_cancellation_for_something_else_is_told_again() -> None:
    told = 0

    async def stubborn() -> None:
        nonlocal told
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                told += 1
                if told == 2:
                    raise

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await stopped((task,))
    assert task.cancelled()
    assert told == 2


async def test_who_waits_and_is_cancelled_leaves_when_all_have_ended() -> None:
    goes, ended = asyncio.Event(), 0

    async def giving_back() -> None:
        nonlocal ended
        try:
            await asyncio.sleep(60)
        finally:
            while not goes.is_set():
                with suppress(asyncio.CancelledError):
                    await goes.wait()
            ended += 1

    tasks = [asyncio.create_task(giving_back()) for _ in range(2)]
    await asyncio.sleep(0)
    stopping = asyncio.create_task(stopped(tasks))
    for _ in range(3):
        await asyncio.sleep(0)
        stopping.cancel()
    await asyncio.sleep(0)
    assert not stopping.done()
    goes.set()
    await asyncio.wait([stopping])
    assert (ended, stopping.cancelled()) == (2, True)


async def test_what_tasks_ended_with_is_passed_over() -> None:
    async def failing() -> None:
        raise ValueError

    task = asyncio.create_task(failing())
    await asyncio.sleep(0)
    await stopped((task,))
    await stopped(())
