"""The material of a query within the limits of a query builder, whatever a model wrote."""

import pytest

from scaar.core.queries.request_limits import within_limits
from scaar.core.types import AttendedWord, JudgedWord, QueryRequest, QuerySettings
from scaar.v1 import query_builder_pb2 as pb
from scaar.wire.messages.codec import request_to_pb
from scaar.wire.query_builder import QueryBuilderServicer

SETTINGS = QuerySettings("current_sentence", include_question=True)


def test_usual_material_stays_as_it_is() -> None:
    word = JudgedWord("Ada", 0, 3, 0.5, 0.8, True)
    request = QueryRequest("Who?", SETTINGS, (word,), ("One.",), ("Ada",), passage="Ada")
    assert within_limits(request) == request


@pytest.mark.parametrize(
    ("accepted", "kept"),
    [
        (("a" * 200_000, "b"), ("b",)),
        (("a", "b" * 131_072), ("b" * 131_072,)),
        (("a", "b" * 200_000), ("b" * 131_072,)),
        (("a",) * 2_000, ("a",) * 1_024),
        ((), ()),
    ],
)
def test_the_newest_sentences_are_kept(accepted: tuple[str, ...], kept: tuple[str, ...]) -> None:
    assert within_limits(QueryRequest("Who?", SETTINGS, accepted=accepted)).accepted == kept


def test_the_query_builder_takes_everything_within_the_limits() -> None:
    long = QueryRequest(
        "Who?",
        SETTINGS,
        words=tuple(JudgedWord("x" * 40_000, at, at + 1, 0.5, 0.8, True) for at in range(50)),
        accepted=("y" * 100_000,) * 5,
        recent_tokens=("z" * 40_000,) * 10,
        attended=(AttendedWord("v" * 40_000, 0.5),) * 10,
        passage="p" * 40_000,
    )
    fitting = within_limits(long)
    assert [len(each.text) for each in fitting.words] == [8_000] * 50
    message = request_to_pb(fitting, pb.BuildQueryRequest)
    QueryBuilderServicer.limits.check("BuildQuery", message.SerializeToString())
