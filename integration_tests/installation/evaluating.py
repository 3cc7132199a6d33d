"""Evaluations asked for, watched and read, as another team would."""

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
from .asking import PATIENCE_S, policy_of

POLICIES = ("no_retrieval", "single_round")
QUESTIONS = (
    ("director", "Who directed the film The Glass Ladder?", "Zaric Sagrove"),
    ("father", "Who is the father of the director of the film The Haunted Fountain?", "Nagar"),
    ("year", "When was the film The Velvet Statue released?", "1937"),
)


async def created(
    evaluator: EvaluatorServiceStub, access: Access, *, request_id: str = "", times: int = 1
) -> Evaluation:
    """An evaluation of the questions, each so many times over, sent in messages of their own."""

    async def messages() -> AsyncIterator[CreateEvaluationRequest]:
        policies = [policy_of(name) for name in POLICIES]
        yield CreateEvaluationRequest(request_id=request_id, policies=policies, index=access.index)
        for number in range(times):
            for name, question, answer in QUESTIONS:
                sent = EvaluationQuestion(
                    id=f"{name}-{number}", question=question, answers=[answer], entity=name
                )
                yield CreateEvaluationRequest(questions=[sent])

    call = evaluator.CreateEvaluation(messages(), timeout=PATIENCE_S, wait_for_ready=True)
    return (await call).evaluation


async def ended(evaluator: EvaluatorServiceStub, evaluation: Evaluation) -> Evaluation:
    """The evaluation when it has ended, watched to its end."""
    asked = WatchEvaluationRequest(evaluation_id=evaluation.id)
    seen = [each.evaluation async for each in evaluator.WatchEvaluation(asked, timeout=PATIENCE_S)]
    assert [each.done for each in seen] == sorted(each.done for each in seen)
    return seen[-1]


async def predictions(
    evaluator: EvaluatorServiceStub, evaluation: Evaluation, page_size: int
) -> list[EvaluationPrediction]:
    """All of them, a page at a time."""
    found: list[EvaluationPrediction] = []
    token = ""
    while True:
        asked = ListPredictionsRequest(
            evaluation_id=evaluation.id, page_size=page_size, page_token=token
        )
        page = await evaluator.ListPredictions(asked, timeout=PATIENCE_S)
        assert len(page.predictions) <= page_size
        found += page.predictions
        if not (token := page.next_page_token):
            return found
