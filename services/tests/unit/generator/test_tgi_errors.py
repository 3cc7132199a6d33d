"""The table of a TGI server's failures, and tokens whose numbers are none."""

import json

import pytest

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    Overloaded,
    PromptTooLong,
    ScaarError,
    StreamIncomplete,
)
from scaar.generator.engines.tgi_server.client import TgiEvent
from scaar.generator.engines.tgi_server.errors import error_of_event, error_of_response
from scaar.generator.engines.tgi_server.tokens import rest_of, token_of

SERVER = "http://tgi"
KINDS = (
    ("validation", 422, InvalidRequest),
    ("generation", 424, BackendUnavailable),
    ("overloaded", 429, Overloaded),
    ("incomplete_generation", 500, StreamIncomplete),
    ("healthcheck", 503, BackendUnavailable),
    ("unheard_of", 500, BackendUnavailable),
)


@pytest.mark.parametrize(("kind", "status", "condition"), KINDS)
def test_a_kind_of_error_is_the_same_condition_in_a_stream_and_by_its_status(
    kind: str, status: int, condition: type[ScaarError]
) -> None:
    payload = {"error": "of\nthis  sort", "error_type": kind}
    in_stream = error_of_event(payload, SERVER)
    answered = error_of_response(status, {}, json.dumps(payload), SERVER)
    for error in (in_stream, answered):
        assert type(error) is condition
        assert SERVER in error.message
        assert error.message.endswith(": of this sort")


@pytest.mark.parametrize(
    ("status", "condition"),
    [
        (301, BackendUnavailable),
        (400, InvalidRequest),
        (401, CapabilityMissing),
        (403, CapabilityMissing),
        (404, BackendUnavailable),
        (413, PromptTooLong),
        (422, InvalidRequest),
        (429, Overloaded),
        (500, BackendUnavailable),
        (502, BackendUnavailable),
        (503, BackendUnavailable),
        (504, BackendUnavailable),
    ],
)
@pytest.mark.parametrize("body", ["", "<html>", "[]", '"text"', "{half"])
def test_a_status_is_mapped_whatever_the_body(
    status: int, condition: type[ScaarError], body: str
) -> None:
    assert type(error_of_response(status, {}, body, SERVER)) is condition


@pytest.mark.parametrize(
    ("message_text", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("-1", 0.0), ("9999", 60.0), ("Tue", 1.0)],
)
def test_an_overloaded_server_gives_a_retry_delay(message_text: str, seconds: float) -> None:
    error = error_of_response(429, {"Retry-After": message_text}, "", SERVER)
    assert isinstance(error, Overloaded)
    assert error.retry_after_s == seconds


def test_a_plain_text_of_a_server_is_shown() -> None:
    error = error_of_response(500, {}, "CUDA out of memory\n", SERVER)
    assert error.message.endswith("failed (HTTP 500): CUDA out of memory")
    assert "html" not in error_of_response(502, {}, "<html>", SERVER).message


def test_a_servers_message_is_truncated() -> None:
    error = error_of_event({"error": "x" * 10_000, "error_type": "generation"}, SERVER)
    assert len(error.message) < 400


def event(**fields: object) -> TgiEvent:
    token = {"id": 5, "text": " a", "logprob": -0.5, "special": False}
    return TgiEvent.model_validate({"token": token, **fields})


@pytest.mark.parametrize(
    ("given", "expected"),
    [("-0.25", -0.25), ("1e-7", 0.0), ("null", None), ("NaN", None), ("-Infinity", None)],
)
def test_a_log_probability_is_a_number_up_to_0_or_missing(
    given: str, expected: float | None
) -> None:
    token = json.loads(f'{{"id": 5, "text": " a", "logprob": {given}, "special": false}}')
    served = token_of(event(token=token, top_tokens=[token]), 1)
    assert served is not None
    assert served.logprob == expected
    assert [each.logprob for each in served.top] == ([] if expected is None else [expected])


def test_control_tokens_are_not_text() -> None:
    ended = {"finish_reason": "eos_token", "generated_tokens": 3, "seed": None}
    special = {"id": 2, "text": "</s>", "logprob": None, "special": True}
    assert token_of(event(token=special), 0) is None
    assert token_of(event(details=ended), 0) is None
    assert token_of(event(details={**ended, "finish_reason": "length"}), 0) is not None


def test_the_rest_is_what_no_token_had() -> None:
    whole = event(generated_text=" a b\N{REPLACEMENT CHARACTER}")
    assert rest_of(whole, " a b") == "\N{REPLACEMENT CHARACTER}"
    assert rest_of(whole, "something else") == ""
    assert rest_of(event(), " a") == ""
