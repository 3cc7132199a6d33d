from hypothesis import given
from hypothesis import strategies as st

from scaar.evaluator.planning.work import cut_shards


@given(st.integers(1, 500), st.integers(1, 20), st.integers(1, 300))
def test_shards_hold_every_question_once_and_no_more_predictions_than_they_may(
    questions: int, settings: int, predictions: int
) -> None:
    shards = cut_shards(questions, settings, predictions=predictions)
    assert [at for first, last in shards for at in range(first, last)] == list(range(questions))
    assert all((last - first) * settings <= max(predictions, settings) for first, last in shards)
