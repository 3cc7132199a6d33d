from dataclasses import replace

import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given

from scaar.core.errors import InvalidRequest
from scaar.core.types import (
    AnswerRequest,
    BudgetLimits,
    ContinuationKind,
    LogprobKind,
    Provenance,
)
from scaar.testing.values import values_of
from scaar.v1 import answer_pb2
from scaar.v1 import orchestrator_pb2 as pb
from scaar.wire.messages.codec import from_pb, request_to_pb, to_pb
from scaar.wire.messages.events import answer_event_from_pb


@pytest.mark.parametrize("message", [pb.AnswerRequest, pb.StreamAnswerRequest])
def test_a_question_alone_has_the_defaults_of_the_domain(
    message: type[pb.AnswerRequest] | type[pb.StreamAnswerRequest],
) -> None:
    assert from_pb(message(question="Who?"), AnswerRequest) == AnswerRequest("Who?")


def test_the_request_of_a_stream_has_the_fields_of_the_other_and_two_of_its_own() -> None:
    def shape(message: type[pb.AnswerRequest] | type[pb.StreamAnswerRequest]) -> list[object]:
        return [(field.name, field.number, field.type) for field in message.DESCRIPTOR.fields]

    *shared, provenance_only, omit_drafted_tokens = shape(pb.StreamAnswerRequest)
    assert shape(pb.AnswerRequest) == shared
    assert provenance_only == ("provenance_only", 12, FieldDescriptor.TYPE_BOOL)
    assert omit_drafted_tokens == ("omit_drafted_tokens", 13, FieldDescriptor.TYPE_BOOL)


def test_zero_retrievals_are_not_the_default() -> None:
    message = pb.AnswerRequest(question="Who?", budget=pb.Budget(max_retrievals=0))
    assert from_pb(message, AnswerRequest).budget == BudgetLimits(max_retrievals=0)


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (AnswerRequest("\ud800"), "question"),
        (AnswerRequest("Who?", request_id="\udc00"), "request_id"),
        (AnswerRequest("Who?", budget=BudgetLimits(max_tokens=2**31)), "budget.max_tokens"),
    ],
)
def test_what_the_contract_cannot_carry_is_refused_by_name(
    request_: AnswerRequest, field: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        request_to_pb(request_, pb.AnswerRequest)
    assert [violation.field for violation in caught.value.violations] == [field]


def test_a_budget_of_no_number_is_refused_by_name() -> None:
    message = pb.AnswerRequest(question="Who?", budget=pb.Budget(timeout_s=float("nan")))
    with pytest.raises(InvalidRequest) as caught:
        from_pb(message, AnswerRequest)
    assert [violation.field for violation in caught.value.violations] == ["budget.timeout_s"]


@given(values_of(Provenance))
def test_an_older_orchestrator_reports_no_continuation(made: Provenance) -> None:
    message = to_pb(made, answer_pb2.Provenance)
    message.ClearField("continuation")
    message.ClearField("logprob_kind")
    assert from_pb(message, Provenance) == replace(
        made, continuation=ContinuationKind.NATIVE, logprob_kind=LogprobKind.UNKNOWN
    )


def test_an_event_of_a_later_version_is_skipped() -> None:
    assert answer_event_from_pb(pb.StreamAnswerResponse()) is None
