from scaar.core.types import ContinuationKind, GenerateRequest
from scaar.v1 import generator_pb2
from scaar.wire.messages.generation import (
    generate_request_from_pb,
    generation_event_from_pb,
    model_from_pb,
    token_from_pb,
)


def test_an_unset_max_tokens_is_the_domains_default() -> None:
    message = generator_pb2.GenerateRequest(prompt="a")
    assert generate_request_from_pb(message) == GenerateRequest("a")


def test_a_max_tokens_of_zero_stays_zero() -> None:
    message = generator_pb2.GenerateRequest(prompt="a", max_tokens=0)
    assert generate_request_from_pb(message).max_tokens == 0


def test_a_logprob_that_is_no_number_is_missing() -> None:
    for value in (float("nan"), float("-inf")):
        message = generator_pb2.Token(id=1, text="a", end=1, logprob=value, entropy=value)
        token = token_from_pb(message)
        assert token.logprob is None
        assert token.entropy is None


def test_a_logprob_of_zero_is_not_a_missing_one() -> None:
    assert token_from_pb(generator_pb2.Token(logprob=0.0)).logprob == 0.0
    assert token_from_pb(generator_pb2.Token()).logprob is None


def test_an_event_of_a_later_version_is_passed_over() -> None:
    assert generation_event_from_pb(generator_pb2.GenerateResponse()) is None


def test_a_model_of_before_it_was_told_goes_on_from_the_text() -> None:
    message = generator_pb2.ModelDescription(logprob_kind=generator_pb2.LOGPROB_KIND_RAW)
    assert model_from_pb(message).continuation is ContinuationKind.NATIVE
