import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from scaar.core import errors
from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PromptTooLong,
    ScaarError,
    StreamIncomplete,
    Violation,
)
from scaar.wire.status import STATUS_CODES, error_of, status_of

ERRORS = [
    InvalidRequest((Violation("question", "must not be empty"), Violation("ü", "zu groß 🙂"))),
    PromptTooLong.of("prompt", "must be at most 7 tokens with what follows it, not 9"),
    errors.Unauthenticated("the bearer token is unknown"),
    errors.PermissionDenied("x-scaar-tenant says 'b'", tenant="a"),
    NotFound("there is no index 'x'", index="x"),
    errors.AlreadyExists("taken", index="x"),
    errors.WrongState("is running", done="3", total="9"),
    CapabilityMissing("no log-probabilities", policy="scaar", missing="logprobs"),
    errors.DataCorrupt("the index x is damaged"),
    Overloaded("no room", retry_after_s=2.5),
    DeadlineExceeded("too late", stage="judging sentence 3"),
    BackendUnavailable("triton does not answer", target="dns:///triton:8001"),
    BackendUnavailable("triton is not asked", retry_after_s=0.75, target="dns:///triton:8001"),
    StreamIncomplete("cut off"),
    ScaarError("internal error"),
]


def received(error: ScaarError) -> grpc.aio.AioRpcError:
    """The error as a client of gRPC gets it."""
    code, message, trailing = status_of(error)
    return grpc.aio.AioRpcError(
        code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailing), details=message
    )


def foreign(code: grpc.StatusCode, details: str = "words") -> ScaarError:
    error = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details=details)
    return error_of(error, "dns:///scorer:50051")


def test_every_condition_has_its_own_reason_and_every_root_its_own_code() -> None:
    conditions = {
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, ScaarError)
    }
    assert set(STATUS_CODES) == conditions
    roots = [each for each in STATUS_CODES if each.__base__ is ScaarError]
    # The reason distinguishes errors with FAILED_PRECONDITION; default: CapabilityMissing.
    roots.remove(errors.WrongState)
    assert len({STATUS_CODES[each] for each in roots}) == len(roots)
    failed_precondition = foreign(grpc.StatusCode.FAILED_PRECONDITION)
    assert type(failed_precondition) is CapabilityMissing
    assert len({each.reason for each in STATUS_CODES}) == len(STATUS_CODES)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_condition_comes_back_as_it_was(error: ScaarError) -> None:
    back = error_of(received(error), "dns:///somewhere:1")
    assert type(back) is type(error)
    assert back.message == error.message
    assert back.metadata == error.metadata
    assert getattr(back, "violations", None) == getattr(error, "violations", None)
    assert getattr(back, "retry_after_s", None) == getattr(error, "retry_after_s", None)


def test_a_status_has_the_details_of_google_rpc() -> None:
    code, message, ((key, value),) = status_of(InvalidRequest.of("question", "must not be empty"))
    status = Status.FromString(value)
    info, bad = ErrorInfo(), BadRequest()
    assert (code, key) == (grpc.StatusCode.INVALID_ARGUMENT, "grpc-status-details-bin")
    assert (status.code, status.message) == (code.value[0], message)
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == ("INVALID_REQUEST", "scaar")
    assert status.details[1].Unpack(bad)
    assert bad.field_violations[0].field == "question"
    retry = RetryInfo()
    ((_, value),) = status_of(Overloaded("no room", retry_after_s=0.25))[2]
    assert Status.FromString(value).details[1].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 250


def test_a_condition_derived_from_another_goes_by_its_parent() -> None:
    class GoneForGood(NotFound):
        reason = "GONE_FOR_GOOD"

    assert status_of(GoneForGood("gone"))[0] is grpc.StatusCode.NOT_FOUND
    assert type(error_of(received(GoneForGood("gone")), "x")) is NotFound


def test_a_status_stays_under_the_metadata_limit() -> None:
    long = "ß\ud800🙂" * 3000
    for error in (
        InvalidRequest([Violation(f"{long}{number}", long) for number in range(100)]),
        NotFound(long, **{f"key{number}": long for number in range(50)}),
    ):
        _, message, ((_, value),) = status_of(error)
        on_the_wire = 3 * len(message.encode()) + len(value) * 4 / 3
        assert on_the_wire < 8000
        assert type(error_of(received(error), "x")) is type(error)


@pytest.mark.parametrize(
    ("code", "condition"),
    [
        (grpc.StatusCode.UNAVAILABLE, BackendUnavailable),
        (grpc.StatusCode.CANCELLED, BackendUnavailable),
        (grpc.StatusCode.DEADLINE_EXCEEDED, DeadlineExceeded),
        (grpc.StatusCode.UNIMPLEMENTED, CapabilityMissing),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, Overloaded),
        (grpc.StatusCode.NOT_FOUND, NotFound),
        (grpc.StatusCode.INVALID_ARGUMENT, InvalidRequest),
        (grpc.StatusCode.ABORTED, StreamIncomplete),
        (grpc.StatusCode.UNKNOWN, ScaarError),
        (grpc.StatusCode.UNAUTHENTICATED, errors.Unauthenticated),
        (grpc.StatusCode.PERMISSION_DENIED, errors.PermissionDenied),
    ],
)
def test_a_status_of_someone_elses_is_a_condition_too(
    code: grpc.StatusCode, condition: type[ScaarError]
) -> None:
    assert type(foreign(code)) is condition


def test_a_backend_that_does_not_answer_is_named() -> None:
    error = foreign(grpc.StatusCode.UNAVAILABLE, "connection refused")
    assert error.message == "dns:///scorer:50051 does not answer"
    assert error.detail == "connection refused"
    assert error.metadata == {"target": "dns:///scorer:50051"}


def test_details_that_cannot_be_read_are_passed_over() -> None:
    trailing = grpc.aio.Metadata(("grpc-status-details-bin", b"\xff\xff"))
    error = grpc.aio.AioRpcError(
        grpc.StatusCode.NOT_FOUND, grpc.aio.Metadata(), trailing, details="gone"
    )
    assert type(error_of(error, "x")) is NotFound
