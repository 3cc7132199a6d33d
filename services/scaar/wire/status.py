"""Errors and gRPC statuses: one table for both directions.

A status of scaar's carries ``google.rpc.ErrorInfo`` (reason, domain, metadata), with
``BadRequest`` beside it for wrong fields and ``RetryInfo`` where it is known when to come again.
"""

from collections.abc import Mapping
from types import MappingProxyType

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from scaar.core.calls.connection_failures import cause_of
from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    CapabilityMissing,
    DataCorrupt,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    PolicyMismatch,
    PromptTooLong,
    ScaarError,
    ScorerMismatch,
    StreamIncomplete,
    Unauthenticated,
    Violation,
    WrongState,
)

DOMAIN = "scaar"
STATUS_CODES: Mapping[type[ScaarError], grpc.StatusCode] = MappingProxyType(
    {
        PromptTooLong: grpc.StatusCode.INVALID_ARGUMENT,
        InvalidRequest: grpc.StatusCode.INVALID_ARGUMENT,
        Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
        PermissionDenied: grpc.StatusCode.PERMISSION_DENIED,
        NotFound: grpc.StatusCode.NOT_FOUND,
        AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
        WrongState: grpc.StatusCode.FAILED_PRECONDITION,
        ScorerMismatch: grpc.StatusCode.FAILED_PRECONDITION,
        PolicyMismatch: grpc.StatusCode.FAILED_PRECONDITION,
        CapabilityMissing: grpc.StatusCode.FAILED_PRECONDITION,
        DataCorrupt: grpc.StatusCode.DATA_LOSS,
        Overloaded: grpc.StatusCode.RESOURCE_EXHAUSTED,
        DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
        BackendUnavailable: grpc.StatusCode.UNAVAILABLE,
        StreamIncomplete: grpc.StatusCode.ABORTED,
        ScaarError: grpc.StatusCode.INTERNAL,
    }
)
"""gRPC status code of each error."""

_BY_REASON = {error.reason: error for error in STATUS_CODES}
_BY_CODE = {code: error for error, code in STATUS_CODES.items()}
# In gRPC's details if the server's health service does not report SERVING for the called service.
_UNHEALTHY = "backend unhealthy"
_DETAILS_KEY = "grpc-status-details-bin"
# A client sees RESOURCE_EXHAUSTED in place of the status when its metadata exceed 8 KB. The
# message counts three times over: percent-encoded, and in the details.
_MESSAGE_BYTES = 1000
_DETAIL_BYTES = 2000

ErrorStatus = tuple[grpc.StatusCode, str, tuple[tuple[str, bytes], ...]]


def status_of(error: ScaarError) -> ErrorStatus:
    """Return the status code, the message and the trailing metadata of the error."""
    code = next(STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)
    message = _cut(error.message, _MESSAGE_BYTES)
    number: int = code.value[0]
    status = Status(code=number, message=message)
    info = ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=_fitting(error.metadata))
    status.details.add().Pack(info)
    match error:
        case InvalidRequest():
            status.details.add().Pack(_bad_request(error))
        case Overloaded(retry_after_s=seconds) | BackendUnavailable(retry_after_s=float(seconds)):
            delay = Duration()
            delay.FromNanoseconds(round(seconds * 1e9))
            status.details.add().Pack(RetryInfo(retry_delay=delay))
    return code, message, ((_DETAILS_KEY, status.SerializeToString()),)


def error_of(error: grpc.aio.AioRpcError, target: str, *, service: str = "") -> ScaarError:
    """Return the error that a call of the ``service`` at the target ended with."""
    status = _status_in(error)
    info = ErrorInfo()
    for detail in status.details:
        if detail.Unpack(info) and info.domain == DOMAIN:
            return _own_error(error.code(), status, info)
    return _foreign_error(error.code(), error.details() or "", target, service)


def _own_error(code: grpc.StatusCode, status: Status, info: ErrorInfo) -> ScaarError:
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(code, ScaarError)
    error: ScaarError
    if issubclass(kind, InvalidRequest):
        error = kind(_violations(status) or (Violation("request", status.message),))
    elif issubclass(kind, Overloaded):
        after_s = _retry_after_s(status)
        error = Overloaded(status.message, retry_after_s=1.0 if after_s is None else after_s)
    elif issubclass(kind, BackendUnavailable):
        error = kind(status.message, retry_after_s=_retry_after_s(status))
    else:
        error = kind(status.message)
    error.metadata = dict(info.metadata)
    return error


def _foreign_error(code: grpc.StatusCode, details: str, target: str, service: str) -> ScaarError:
    """Return the error for a status that gRPC itself, a proxy or another server made."""
    match code:
        case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.CANCELLED:
            if _UNHEALTHY in details and service:
                text = f"{target} does not serve {service}, or the service is not ready"
                advice = "check that the target is the address of that service"
                return BackendUnavailable(f"{text}: {advice}", detail=details, target=target)
            # The details of gRPC contain addresses behind the target.
            text = ": ".join(filter(None, (f"{target} does not answer", cause_of(details))))
            return BackendUnavailable(text, detail=details, target=target)
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return DeadlineExceeded(f"{target} did not answer in time", target=target)
        case grpc.StatusCode.UNIMPLEMENTED:
            text = f"{target} does not serve this call of {service or 'the service'} ({details})"
            advice = "check that the target is the address of that service, and its version"
            return CapabilityMissing(f"{text}: {advice}", target=target)
        case grpc.StatusCode.INVALID_ARGUMENT:
            return InvalidRequest.of("request", details)
        case grpc.StatusCode.RESOURCE_EXHAUSTED if "larger than max" in details:
            return InvalidRequest.of("request", f"is too large for {target}: {details}")
        case _:
            kind = _BY_CODE.get(code, ScaarError)
            return kind(f"{target} failed with {code.name}: {details}", target=target)


def _status_in(error: grpc.aio.AioRpcError) -> Status:
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                break
    return Status()


def _bad_request(error: InvalidRequest) -> BadRequest:
    bad, used = BadRequest(), 0
    for violation in error.violations:
        field, text = _cut(violation.field, 200), _cut(violation.description, 1000)
        used += len(field.encode()) + len(text.encode()) + 8
        if used > _DETAIL_BYTES:
            break
        bad.field_violations.add(field=field, description=text)
    return bad


def _violations(status: Status) -> tuple[Violation, ...]:
    bad = BadRequest()
    for detail in status.details:
        if detail.Unpack(bad):
            return tuple(Violation(each.field, each.description) for each in bad.field_violations)
    return ()


def _retry_after_s(status: Status) -> float | None:
    retry = RetryInfo()
    for detail in status.details:
        if detail.Unpack(retry):
            return float(retry.retry_delay.ToNanoseconds() / 1e9)
    return None


def _fitting(metadata: Mapping[str, str]) -> dict[str, str]:
    kept, used = {}, 0
    for key, value in metadata.items():
        value = _cut(value, 200)
        used += len(key) + len(value.encode())
        if used > 600:
            break
        kept[key] = value
    return kept


def _cut(text: str, limit: int) -> str:
    """Return the text cut to ``limit`` bytes, without unpaired surrogates."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= limit:
        return encoded.decode()
    return encoded[: limit - 3].decode(errors="ignore") + "…"
