from scaar.core.types import ContinuationKind, GenerateRequest, ModelDescription, Token
from scaar.v1 import generator_pb2
from scaar.wire.messages.codec import from_pb
from scaar.wire.messages.events import generation_event_from_pb


def test_an_unset_max_tokens_is_the_domains_default() -> None:
    message = generator_pb2.GenerateRequest(prompt="a")
    assert from_pb(message, GenerateRequest) == GenerateRequest("a")


def test_a_max_tokens_of_zero_stays_zero() -> None:
    message = generator_pb2.GenerateRequest(prompt="a", max_tokens=0)
    assert from_pb(message, GenerateRequest).max_tokens == 0


def test_an_invalid_logprob_counts_as_missing() -> None:
    for value in (float("nan"), float("-inf")):
        message = generator_pb2.Token(id=1, text="a", end=1, logprob=value, entropy=value)
        token = from_pb(message, Token)
        assert token.logprob is None
        assert token.entropy is None


def test_a_logprob_of_zero_is_not_a_missing_one() -> None:
    assert from_pb(generator_pb2.Token(logprob=0.0), Token).logprob == 0.0
    assert from_pb(generator_pb2.Token(), Token).logprob is None


def test_an_event_of_a_later_version_is_skipped() -> None:
    assert generation_event_from_pb(generator_pb2.GenerateResponse()) is None


def test_an_older_model_description_means_native_continuation() -> None:
    message = generator_pb2.ModelDescription(logprob_kind=generator_pb2.LOGPROB_KIND_RAW)
    assert from_pb(message, ModelDescription).continuation is ContinuationKind.NATIVE
