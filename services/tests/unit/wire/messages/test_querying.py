import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import QueryRequest, QuerySettings
from scaar.v1 import query_builder_pb2 as pb
from scaar.wire.messages.codec import from_pb

QUESTION = pb.QuerySettings(formulation="question")


def test_unset_settings_are_the_domains_defaults() -> None:
    message = pb.BuildQueryRequest(question="Who?", settings=QUESTION)
    expected = QueryRequest("Who?", QuerySettings("question", include_question=False))
    assert from_pb(message, QueryRequest) == expected


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (pb.BuildQueryRequest(question="Who?"), "settings"),
        (
            pb.BuildQueryRequest(
                settings=QUESTION, words=[pb.JudgedWord(), pb.JudgedWord(threshold=float("nan"))]
            ),
            "words[1].threshold",
        ),
    ],
)
def test_what_is_missing_or_no_number_is_refused_by_name(
    message: pb.BuildQueryRequest, field: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        from_pb(message, QueryRequest)
    assert [violation.field for violation in caught.value.violations] == [field]
