"""Whatever crosses a port comes back from the contract as it was."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaar.core import evaluations as e
from scaar.core import types as t
from scaar.core.policies import PRESETS
from scaar.testing.values import values_of
from scaar.v1 import orchestrator_pb2
from scaar.wire.messages import (
    answer,
    evaluation_requests,
    evaluations,
    events,
    generation,
    policy,
    querying,
    retrieval,
    scoring,
)

PASSAGES = values_of(t.RetrieveResult)
POLICIES = values_of(t.PolicyRequest, name=st.sampled_from(list(PRESETS)))
REQUESTS = values_of(t.AnswerRequest, policy=POLICIES)

PAIRS: dict[str, tuple[st.SearchStrategy[Any], Callable[..., Any], Callable[..., Any]]] = {
    "generate request": (
        values_of(t.GenerateRequest),
        generation.generate_request_to_pb,
        generation.generate_request_from_pb,
    ),
    "generation event": (
        st.one_of(values_of(t.GenerationStart), values_of(t.Token), values_of(t.GenerationEnd)),
        generation.generation_event_to_pb,
        generation.generation_event_from_pb,
    ),
    "attend request": (
        values_of(t.AttendRequest),
        generation.attend_request_to_pb,
        generation.attend_request_from_pb,
    ),
    "attention": (
        values_of(t.Attention),
        generation.attention_to_pb,
        generation.attention_from_pb,
    ),
    "model": (
        values_of(t.ModelDescription),
        generation.model_to_pb,
        generation.model_from_pb,
    ),
    "score requests": (
        st.lists(values_of(t.ScoreRequest), max_size=3).map(tuple),
        scoring.score_requests_to_pb,
        scoring.score_requests_from_pb,
    ),
    "contributions": (
        st.lists(st.lists(st.floats(0, 1), max_size=4).map(tuple), max_size=3).map(tuple),
        scoring.contributions_to_pb,
        scoring.contributions_from_pb,
    ),
    "scorer": (values_of(t.ScorerDescription), scoring.scorer_to_pb, scoring.scorer_from_pb),
    "query request": (
        values_of(t.QueryRequest),
        querying.query_request_to_pb,
        querying.query_request_from_pb,
    ),
    "query": (values_of(t.Query), querying.query_to_pb, querying.query_from_pb),
    "retrieve request": (
        values_of(t.RetrieveRequest),
        retrieval.retrieve_request_to_pb,
        retrieval.retrieve_request_from_pb,
    ),
    "retrieve result": (
        PASSAGES,
        retrieval.retrieve_result_to_pb,
        retrieval.retrieve_result_from_pb,
    ),
    "passage": (values_of(t.Passage), retrieval.passage_to_pb, retrieval.passage_from_pb),
    "index": (values_of(t.IndexDescription), retrieval.index_to_pb, retrieval.index_from_pb),
    "verification": (
        values_of(t.IndexVerification),
        retrieval.verification_to_pb,
        retrieval.verification_from_pb,
    ),
    "policy request": (POLICIES, policy.policy_request_to_pb, policy.policy_request_from_pb),
    "effective policy": (
        values_of(t.EffectivePolicy),
        policy.effective_policy_to_pb,
        policy.effective_policy_from_pb,
    ),
    "answer request": (
        REQUESTS,
        lambda value: answer.answer_request_to_pb(value, orchestrator_pb2.AnswerRequest),
        answer.answer_request_from_pb,
    ),
    "stream answer request": (
        REQUESTS,
        lambda value: answer.answer_request_to_pb(value, orchestrator_pb2.StreamAnswerRequest),
        answer.answer_request_from_pb,
    ),
    "evaluation request": (
        values_of(
            e.EvaluationRequest,
            policies=st.lists(POLICIES, max_size=3).map(tuple),
            tenant=st.just(e.DEFAULT_TENANT),
        ),
        evaluation_requests.evaluation_request_to_pb,
        evaluation_requests.evaluation_request_from_pb,
    ),
    "evaluation question": (
        values_of(e.EvaluationQuestion),
        evaluation_requests.evaluation_question_to_pb,
        evaluation_requests.evaluation_question_from_pb,
    ),
    "evaluations": (
        values_of(e.EvaluationPage),
        evaluations.evaluations_to_pb,
        evaluations.evaluations_from_pb,
    ),
    "evaluation's progress": (
        values_of(e.EvaluationProgress),
        evaluations.evaluation_progress_to_pb,
        evaluations.evaluation_progress_from_pb,
    ),
    "predictions": (
        values_of(e.PredictionPage),
        evaluations.predictions_to_pb,
        evaluations.predictions_from_pb,
    ),
    "answer": (values_of(t.Answer), answer.answer_to_pb, answer.answer_from_pb),
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
    values, to_pb, from_pb = PAIRS[name]
    value = data.draw(values)
    message = to_pb(value)
    assert from_pb(type(message).FromString(message.SerializeToString())) == value
