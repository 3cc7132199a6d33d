"""What the codec refuses, and the field that each error names."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from google.protobuf.message import Message

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import EvaluationQuestion, EvaluationRequest
from scaar.core.types import (
    AnswerRequest,
    Capability,
    DenseDescription,
    DenseSettings,
    EffectivePolicy,
    Filter,
    Granularity,
    HnswSettings,
    MetadataField,
    ModelDescription,
    Moment,
    Passage,
    PolicyOverrides,
    PolicyRequest,
    RetrieveRequest,
    RetrieveResult,
    ScoreRequest,
)
from scaar.v1 import (
    evaluator_pb2,
    generator_pb2,
    orchestrator_pb2,
    policy_pb2,
    query_builder_pb2,
    retriever_pb2,
    scorer_pb2,
)
from scaar.wire.messages.codec import codec_of, from_pb, request_to_pb, to_pb

HALF = "\ud800"
LARGE = PolicyOverrides(top_k=2**31)
QUESTION = query_builder_pb2.QuerySettings(formulation="question")
ANSWER, DENSE = AnswerRequest("Who?"), DenseSettings(hnsw=HnswSettings(m=2**31))


@pytest.mark.parametrize(
    ("value", "kind", "message", "field", "expected"),
    [
        (
            replace(ANSWER, filters=(Filter("a", ()), Filter("b", ("x", HALF)))),
            None,
            orchestrator_pb2.AnswerRequest,
            "",
            "filters[1].values: holds the control character U+D800 at 0",
        ),
        (
            replace(ANSWER, policy=PolicyRequest("flare", LARGE)),
            None,
            orchestrator_pb2.StreamAnswerRequest,
            "",
            "policy.top_k: must fit in 32 bits, not 2.14748e+09",
        ),
        (
            replace(ANSWER, policy=PolicyRequest("flare", PolicyOverrides(top_k=10**400))),
            None,
            orchestrator_pb2.StreamAnswerRequest,
            "",
            "policy.top_k: must fit in 32 bits, not an integer of more than 300 digits",
        ),
        (
            replace(ANSWER, policy=PolicyRequest("flare", PolicyOverrides(alpha=10**400))),
            None,
            orchestrator_pb2.StreamAnswerRequest,
            "",
            "policy.alpha: must be a finite number, not an integer of more than 300 digits",
        ),
        (
            EvaluationRequest((PolicyRequest("flare"), PolicyRequest("flare", LARGE))),
            None,
            evaluator_pb2.CreateEvaluationRequest,
            "",
            "policies[1].top_k: must fit in 32 bits, not 2.14748e+09",
        ),
        (
            RetrieveRequest(("a", HALF), 3, "lab"),
            None,
            retriever_pb2.RetrieveRequest,
            "",
            "queries: holds the control character U+D800 at 0",
        ),
        (
            (ScoreRequest("a", ("b",)), ScoreRequest("a", ("b", HALF))),
            tuple[ScoreRequest, ...],
            scorer_pb2.ScoreContributionsRequest,
            "",
            "sentences[1].words: holds the control character U+D800 at 0",
        ),
        (
            Passage("1", "", "a", (MetadataField("lang", (HALF,)),)),
            None,
            retriever_pb2.Passage,
            "passages",
            "passages.metadata[0].values: holds the control character U+D800 at 0",
        ),
        (
            EvaluationQuestion("1", "Who?", ("a",), labels=(("a", "b"), ("c", HALF))),
            None,
            evaluator_pb2.EvaluationQuestion,
            "questions",
            "questions.labels[1].value: holds the control character U+D800 at 0",
        ),
        (
            DenseDescription("a", "b", 3, DENSE),
            None,
            retriever_pb2.DenseDescription,
            "dense",
            "dense.settings.hnsw.m: must fit in 32 bits, not 2.14748e+09",
        ),
    ],
)
def test_a_value_that_the_contract_cannot_carry_is_refused_by_its_field(
    value: object, kind: Any, message: type[Message], field: str, expected: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        request_to_pb(value, message, kind, field=field)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("message", "kind", "expected"),
    [
        (
            policy_pb2.EffectivePolicy(),
            EffectivePolicy,
            "query: is required",
        ),
        (
            policy_pb2.EffectivePolicy(query=QUESTION, moments=[0]),  # type: ignore[list-item]
            EffectivePolicy,
            "moments[0]: must be specified",
        ),
        (
            generator_pb2.ModelDescription(
                logprob_kind=generator_pb2.LOGPROB_KIND_RAW,
                capabilities=[generator_pb2.CAPABILITY_LOGPROBS, 0],  # type: ignore[list-item]
            ),
            ModelDescription,
            "capabilities[1]: must be specified",
        ),
        (
            retriever_pb2.RetrieveResponse(
                results=[
                    retriever_pb2.QueryResult(),
                    retriever_pb2.QueryResult(
                        passages=[retriever_pb2.RetrievedPassage(score=float("nan"))]
                    ),
                ]
            ),
            RetrieveResult,
            "results[1].passages[0].score: must be a finite number, not nan",
        ),
        (
            scorer_pb2.ScoreContributionsResponse(
                sentences=[scorer_pb2.SentenceContributions(contributions=[1.0, float("inf")])]
            ),
            tuple[tuple[float, ...], ...],
            "sentences[0].contributions: must be a finite number, not inf",
        ),
    ],
)
def test_an_invalid_message_is_refused_by_its_field(
    message: Message, kind: Any, expected: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        from_pb(message, kind)
    assert str(caught.value) == expected


def test_an_unspecified_enum_is_the_default_of_the_domain() -> None:
    message = policy_pb2.EffectivePolicy(query=QUESTION)
    read = from_pb(message, EffectivePolicy)
    assert (read.granularity, read.trigger) == (Granularity.WORD, None)


def test_a_capability_of_a_later_version_is_left_out() -> None:
    message = generator_pb2.ModelDescription(
        logprob_kind=generator_pb2.LOGPROB_KIND_RAW,
        capabilities=[generator_pb2.CAPABILITY_LOGPROBS, 99],  # type: ignore[list-item]
    )
    assert from_pb(message, ModelDescription).capabilities == {Capability.LOGPROBS}


def test_a_moment_of_a_later_version_is_left_out() -> None:
    message = policy_pb2.EffectivePolicy(query=QUESTION, moments=[99, 5])  # type: ignore[list-item]
    read = from_pb(message, EffectivePolicy)
    assert (read.moments, read.rounds) == ((Moment.AFTER_ANSWER,), 1)


def test_large_finite_numbers_are_accepted_though_their_sum_is_not_finite() -> None:
    rows = ((1.7e308, 1.7e308),)
    kind = tuple[tuple[float, ...], ...]
    message = to_pb(rows, scorer_pb2.ScoreContributionsResponse, kind)
    assert from_pb(message, kind) == rows


def test_a_field_that_the_message_lacks_must_be_the_last_one() -> None:
    @dataclass(frozen=True)
    class Moved:
        tenant: str
        request_id: str

    with pytest.raises(TypeError, match=r"Moved\.tenant has no field, and must be the last one"):
        codec_of(Moved, evaluator_pb2.CreateEvaluationRequest)
