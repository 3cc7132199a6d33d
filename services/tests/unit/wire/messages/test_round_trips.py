"""Whatever crosses a port comes back from the contract as it was."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaar.core import evaluations as e
from scaar.core import types as t
from scaar.core.policies import PRESETS
from scaar.testing.values import values_of
from scaar.v1 import (
    answer_pb2,
    evaluator_pb2,
    generator_pb2,
    orchestrator_pb2,
    policy_pb2,
    query_builder_pb2,
    retriever_pb2,
    scorer_pb2,
)
from scaar.wire.messages import events
from scaar.wire.messages.codec import from_pb, to_pb

PASSAGES = values_of(t.RetrieveResult)
POLICIES = values_of(
    t.PolicyRequest, name=st.sampled_from(["", "tuned-1.4", *PRESETS]), artefact=st.just("")
)
REQUESTS = values_of(t.AnswerRequest, policy=POLICIES)

_Conversion = Callable[..., Any]


def by_codec(kind: Any, message: Any) -> tuple[_Conversion, _Conversion]:
    return (lambda value: to_pb(value, message, kind)), (lambda found: from_pb(found, kind))


PAIRS: dict[str, tuple[st.SearchStrategy[Any], _Conversion, _Conversion]] = {
    "generate request": (
        values_of(t.GenerateRequest),
        *by_codec(t.GenerateRequest, generator_pb2.GenerateRequest),
    ),
    "generation event": (
        st.one_of(values_of(t.GenerationStart), values_of(t.Token), values_of(t.GenerationEnd)),
        events.generation_event_to_pb,
        events.generation_event_from_pb,
    ),
    "attend request": (
        values_of(t.AttendRequest),
        *by_codec(t.AttendRequest, generator_pb2.AttendRequest),
    ),
    "attention": (values_of(t.Attention), *by_codec(t.Attention, generator_pb2.Attention)),
    "logprobs request": (
        values_of(t.LogprobsRequest),
        *by_codec(t.LogprobsRequest, generator_pb2.ComputeLogprobsRequest),
    ),
    "text logprobs": (
        values_of(t.TextLogprobs),
        *by_codec(t.TextLogprobs, generator_pb2.TextLogprobs),
    ),
    "model": (
        values_of(t.ModelDescription),
        *by_codec(t.ModelDescription, generator_pb2.ModelDescription),
    ),
    "score requests": (
        st.lists(values_of(t.ScoreRequest), max_size=3).map(tuple),
        *by_codec(tuple[t.ScoreRequest, ...], scorer_pb2.ScoreContributionsRequest),
    ),
    "contributions": (
        st.lists(st.lists(st.floats(0, 1), max_size=4).map(tuple), max_size=3).map(tuple),
        *by_codec(tuple[tuple[float, ...], ...], scorer_pb2.ScoreContributionsResponse),
    ),
    "scorer": (
        values_of(t.ScorerDescription),
        *by_codec(t.ScorerDescription, scorer_pb2.ScorerDescription),
    ),
    "query request": (
        values_of(t.QueryRequest),
        *by_codec(t.QueryRequest, query_builder_pb2.BuildQueryRequest),
    ),
    "query word": (
        values_of(t.QueryWord),
        *by_codec(t.QueryWord, query_builder_pb2.QueryWord),
    ),
    "query": (values_of(t.Query), *by_codec(t.Query, query_builder_pb2.Query)),
    "retrieve request": (
        values_of(t.RetrieveRequest),
        *by_codec(t.RetrieveRequest, retriever_pb2.RetrieveRequest),
    ),
    "retrieve result": (PASSAGES, *by_codec(t.RetrieveResult, retriever_pb2.RetrieveResponse)),
    "passage": (values_of(t.Passage), *by_codec(t.Passage, retriever_pb2.Passage)),
    "index": (
        values_of(t.IndexDescription),
        *by_codec(t.IndexDescription, retriever_pb2.IndexDescription),
    ),
    "verification": (
        values_of(t.IndexVerification),
        *by_codec(t.IndexVerification, retriever_pb2.VerifyIndexResponse),
    ),
    "policy description": (
        values_of(t.PolicyDescription),
        *by_codec(t.PolicyDescription, orchestrator_pb2.PolicyDescription),
    ),
    "search request": (
        values_of(t.SearchRequest),
        *by_codec(t.SearchRequest, orchestrator_pb2.SearchRequest),
    ),
    "search result": (
        values_of(t.SearchResult),
        *by_codec(t.SearchResult, orchestrator_pb2.SearchResponse),
    ),
    "orchestrator": (
        values_of(t.OrchestratorDescription),
        *by_codec(t.OrchestratorDescription, orchestrator_pb2.DescribeResponse),
    ),
    "policy request": (POLICIES, *by_codec(t.PolicyRequest, policy_pb2.Policy)),
    "effective policy": (
        values_of(t.EffectivePolicy),
        *by_codec(t.EffectivePolicy, policy_pb2.EffectivePolicy),
    ),
    "answer request": (
        REQUESTS.map(
            lambda request: replace(request, provenance_only=False, omit_drafted_tokens=False)
        ),
        *by_codec(t.AnswerRequest, orchestrator_pb2.AnswerRequest),
    ),
    "stream answer request": (
        REQUESTS,
        *by_codec(t.AnswerRequest, orchestrator_pb2.StreamAnswerRequest),
    ),
    "evaluation request": (
        values_of(
            e.EvaluationRequest,
            policies=st.lists(POLICIES, max_size=3).map(tuple),
            tenant=st.just(e.DEFAULT_TENANT),
        ),
        *by_codec(e.EvaluationRequest, evaluator_pb2.CreateEvaluationRequest),
    ),
    "evaluation question": (
        values_of(e.EvaluationQuestion),
        *by_codec(e.EvaluationQuestion, evaluator_pb2.EvaluationQuestion),
    ),
    "evaluations": (
        values_of(e.EvaluationPage),
        *by_codec(e.EvaluationPage, evaluator_pb2.ListEvaluationsResponse),
    ),
    "evaluation's progress": (
        values_of(e.EvaluationProgress),
        *by_codec(e.EvaluationProgress, evaluator_pb2.WatchEvaluationResponse),
    ),
    "predictions": (
        values_of(e.PredictionPage),
        *by_codec(e.PredictionPage, evaluator_pb2.ListPredictionsResponse),
    ),
    "answer": (values_of(t.Answer), *by_codec(t.Answer, answer_pb2.Answer)),
    **{
        f"event {kind.__name__}": (
            values_of(kind),
            events.answer_event_to_pb,
            events.answer_event_from_pb,
        )
        for kind in t.AnswerEvent.__args__
    },
}


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_value_comes_back_through_bytes_as_it_was(name: str, data: st.DataObject) -> None:
    values, write, read = PAIRS[name]
    value = data.draw(values)
    message = write(value)
    if isinstance(value, t.Answer):
        assert message.text == value.text
    assert read(type(message).FromString(message.SerializeToString())) == value
