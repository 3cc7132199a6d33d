import asyncio
from contextlib import suppress

from scaar.evaluator.execution.cancellation import cancel_all


async def test_a_task_that_ignores_a_cancellation_is_cancelled_again() -> None:
    cancellations = 0

    async def stubborn() -> None:
        nonlocal cancellations
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancellations += 1
                if cancellations == 2:
                    raise

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await cancel_all((task,))
    assert task.cancelled()
    assert cancellations == 2


async def test_a_cancelled_caller_returns_when_all_tasks_have_ended() -> None:
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
    stopping = asyncio.create_task(cancel_all(tasks))
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
    await cancel_all((task,))
    await cancel_all(())
