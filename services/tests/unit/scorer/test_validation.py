import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import ScoreRequest
from scaar.core.types.scoring import MAX_SCORED_CHARACTERS
from scaar.scorer.validation import check_requests


def test_a_question_and_a_sentence_of_the_maximum_length_are_accepted() -> None:
    longest = ("x" * (MAX_SCORED_CHARACTERS - 3), "yz")
    check_requests([ScoreRequest("q" * MAX_SCORED_CHARACTERS, longest)])


@pytest.mark.parametrize(
    ("question", "words", "field"),
    [
        ("q" * (MAX_SCORED_CHARACTERS + 1), ("word",), "question"),
        ("Who?", ("x" * (MAX_SCORED_CHARACTERS - 2), "yz"), "words"),
    ],
)
def test_a_longer_one_is_refused_naming_the_limit(
    question: str, words: tuple[str, ...], field: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_requests([ScoreRequest("Who?", ("Ada.",)), ScoreRequest(question, words)])
    limit = "must have at most 8,000 characters, not 8,001"
    assert str(caught.value) == f"sentences[1].{field}: {limit}"


def test_the_texts_of_a_call_together_are_limited() -> None:
    longest = ScoreRequest("q" * MAX_SCORED_CHARACTERS, ("x" * 192,))
    check_requests([longest] * 64)
    with pytest.raises(InvalidRequest, match=r"sentences: must have at most 524,288 characters"):
        check_requests([longest] * 65)
