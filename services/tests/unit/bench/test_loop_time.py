from bench import loop_time
from scaar.evaluator.planning.settings import default_policies


async def test_the_loop_is_timed_under_every_policy_of_an_evaluation() -> None:
    rows = await loop_time.rows(answers=1)
    assert [name for name, _, _ in rows] == list(default_policies())
    assert all(len(row) == len(loop_time.COLUMNS) for row in rows)
