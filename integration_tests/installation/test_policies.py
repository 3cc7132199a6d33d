"""Every policy of the contract: answered as it says, or refused for what the model cannot give."""

import os

import grpc
import pytest

from scaar.v1.answer_pb2 import ANSWER_END_UNSPECIFIED, Answer
from scaar.v1.generator_pb2 import CONTINUATION_KIND_UNSPECIFIED
from scaar.v1.policy_pb2 import Moment

from .access import Access
from .client import POLICIES, answer, error_details, events, request

WHITE_BOX = {
    "mean_entropy": {"entropy"},
    "etc": {"attention", "entropy"},
    "etc_reference": {"attention", "entropy"},
    "dragin": {"attention", "entropy"},
    "dragin_reference": {"attention", "entropy"},
}
"""The capabilities that a policy needs of a model beyond log-probabilities."""


@pytest.fixture(params=["access"] if os.environ.get("SCAAR_TARGET") else ["access", "secured"])
def either(request: pytest.FixtureRequest) -> Access:
    """An installation by a server of models, and one whose generator is a white box."""
    found: Access = request.getfixturevalue(request.param)
    return found


def check(answered: Answer, requested: str) -> None:
    """Check what holds of every answer, whatever the model wrote."""
    made, usage = answered.provenance, answered.usage
    assert answered.answer
    assert answered.end != ANSWER_END_UNSPECIFIED
    assert answered.sentences
    assert not any(each.HasField("degraded") for each in answered.sentences)
    assert made.policy.name == requested
    assert all((made.request_id, made.model, made.engine, made.prompt_profile))
    assert made.continuation != CONTINUATION_KIND_UNSPECIFIED
    assert usage.llm_calls >= 1
    assert usage.generated_tokens >= 1
    assert usage.prompt_tokens >= 1
    assert usage.latency_ms > 0


@pytest.mark.parametrize("policy", [each for each in POLICIES if each not in WHITE_BOX])
async def test_a_policy_that_any_model_serves_is_answered(either: Access, policy: str) -> None:
    async with either.channel() as channel:
        answered = (await answer(channel, request(either, policy))).answer
    check(answered, policy)
    retrievals = answered.usage.retrievals
    match list(answered.provenance.policy.moments):
        case []:
            assert (policy, retrievals) == ("no_retrieval", 0)
        case [Moment.MOMENT_BEFORE_ANSWER]:
            assert (policy, retrievals) == ("single_round", 1)
        case [Moment.MOMENT_BEFORE_SENTENCE] | [Moment.MOMENT_BEFORE_WINDOW]:
            assert policy in ("fixed_length", "fixed_sentence", "ircot")
            assert retrievals >= 1
        case moments:
            assert moments == [Moment.MOMENT_UNCERTAIN_DRAFT]
            assert policy in ("flare", "perplexity", "scaar")
    found = [each for one in answered.sentences for each in one.passage_ids]
    assert bool(found) <= bool(retrievals)
    if policy != "no_retrieval":
        assert answered.provenance.index == either.index
        assert answered.provenance.index_version


@pytest.mark.parametrize("policy", sorted(WHITE_BOX))
async def test_a_policy_of_white_boxes_is_answered_or_refused_for_what_is_missing(
    either: Access, policy: str
) -> None:
    async with either.channel() as channel:
        drafted = await events(channel, request(either, "no_retrieval"))
        tokens = [each.event.token_drafted.token for each in drafted]
        try:
            check((await answer(channel, request(either, policy))).answer, policy)
            missing: set[str] = set()
        except grpc.aio.AioRpcError as error:
            said = error_details(error)
            assert said.code is grpc.StatusCode.FAILED_PRECONDITION
            assert (said.reason, said.metadata["policy"]) == ("CAPABILITY_MISSING", policy)
            missing = set(said.metadata["missing"].split(", "))
            assert missing <= WHITE_BOX[policy]
            assert missing
    # What the model gives is to be seen in any draft of it.
    assert ("entropy" in missing) == (not any(each.HasField("entropy") for each in tokens))


def test_the_table_of_white_boxes_is_of_policies_of_the_contract() -> None:
    assert set(WHITE_BOX) < set(POLICIES)
