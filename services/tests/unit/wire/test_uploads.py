import asyncio

from scaar.core.evaluations import EvaluationQuestion
from scaar.v1 import evaluator_pb2 as pb
from scaar.wire.messages.codec import from_pb
from scaar.wire.uploads import unpacked


async def test_other_calls_run_while_many_small_parts_are_converted() -> None:
    parts = [pb.EvaluationQuestion(id=f"q{at}") for at in range(1_000)]
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    read = [
        each.id async for each in unpacked(parts, lambda part: from_pb(part, EvaluationQuestion))
    ]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert read == [each.id for each in parts]
    assert turns >= 4
