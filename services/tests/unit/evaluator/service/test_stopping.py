import asyncio

from scaar.evaluator.service.stopping import stopped


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


async def test_what_tasks_ended_with_is_passed_over() -> None:
    async def failing() -> None:
        raise ValueError

    task = asyncio.create_task(failing())
    await asyncio.sleep(0)
    await stopped((task,))
    await stopped(())
