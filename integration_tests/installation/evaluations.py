"""Evaluations as a client of the contract creates, watches and reads them."""

from collections.abc import AsyncIterator

from scaar.v1.evaluator_pb2 import (
    CreateEvaluationRequest,
    Evaluation,
    EvaluationPrediction,
    EvaluationQuestion,
    ListPredictionsRequest,
    WatchEvaluationRequest,
)
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from .access import Access
from .client import PATIENCE_S, policy_of

POLICIES = ("no_retrieval", "single_round")
QUESTIONS = (
    ("director", "Who directed the film The Glass Ladder?", "Zaric Sagrove"),
    ("father", "Who is the father of the director of the film The Haunted Fountain?", "Nagar"),
    ("year", "When was the film The Velvet Statue released?", "1937"),
)


async def create_evaluation(
    evaluator: EvaluatorServiceStub, access: Access, *, request_id: str = "", times: int = 1
) -> Evaluation:
    """Create an evaluation with ``times`` copies of the questions, one message each."""

    async def messages() -> AsyncIterator[CreateEvaluationRequest]:
        policies = [policy_of(name) for name in POLICIES]
        yield CreateEvaluationRequest(
            request_id=request_id, policies=policies, indexes=[access.index]
        )
        for number in range(times):
            for name, question, answer in QUESTIONS:
                sent = EvaluationQuestion(
                    id=f"{name}-{number}", question=question, answers=[answer], entity=name
                )
                yield CreateEvaluationRequest(questions=[sent])

    call = evaluator.CreateEvaluation(messages(), timeout=PATIENCE_S, wait_for_ready=True)
    return (await call).evaluation


async def wait_for_evaluation(
    evaluator: EvaluatorServiceStub, evaluation: Evaluation
) -> Evaluation:
    """Watch an evaluation to its end, and return it."""
    request = WatchEvaluationRequest(evaluation_id=evaluation.id)
    seen = [
        each.evaluation async for each in evaluator.WatchEvaluation(request, timeout=PATIENCE_S)
    ]
    assert [each.done for each in seen] == sorted(each.done for each in seen)
    return seen[-1]


async def predictions(
    evaluator: EvaluatorServiceStub, evaluation: Evaluation, page_size: int
) -> list[EvaluationPrediction]:
    """Return all predictions, page by page."""
    found: list[EvaluationPrediction] = []
    token = ""
    while True:
        request = ListPredictionsRequest(
            evaluation_id=evaluation.id, page_size=page_size, page_token=token
        )
        page = await evaluator.ListPredictions(request, timeout=PATIENCE_S)
        assert len(page.predictions) <= page_size
        found += page.predictions
        if not (token := page.next_page_token):
            return found
