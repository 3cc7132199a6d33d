"""Evaluations as they are asked for, and the questions that are sent."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.evaluations import EvaluationGrid, EvaluationQuestion, EvaluationRequest
from scaar.core.types import PolicyRequest
from scaar.v1 import evaluator_pb2 as pb
from scaar.v1 import policy_pb2
from scaar.wire.messages.fields import carried_int, carried_text, finite
from scaar.wire.messages.policy import policy_request_from_pb, policy_request_to_pb

_DEFAULT = EvaluationRequest(policies=())


def evaluation_request_to_pb(request: EvaluationRequest) -> pb.CreateEvaluationRequest:
    """The first message, without questions; the tenant goes by the metadata."""
    grid = request.grid
    return pb.CreateEvaluationRequest(
        request_id=carried_text("request_id", request.request_id),
        dataset=carried_text("dataset", request.dataset),
        policies=_policies_to_pb(request.policies),
        grid=pb.EvaluationGrid(
            theta=grid.theta,
            alpha=grid.alpha,
            top_k=[carried_int("grid.top_k", each) for each in grid.top_k],
        ),
        limit=None if request.limit is None else carried_int("limit", request.limit),
        seed=request.seed,
        index=None if request.index is None else carried_text("index", request.index),
        timeout_s=request.timeout_s,
    )


def evaluation_request_from_pb(
    message: pb.CreateEvaluationRequest, *, tenant: str = _DEFAULT.tenant
) -> EvaluationRequest:
    grid, timeout_s = message.grid, _DEFAULT.timeout_s
    return EvaluationRequest(
        policies=_policies_from_pb(message.policies),
        dataset=message.dataset,
        grid=EvaluationGrid(
            theta=tuple(finite("grid.theta", each) for each in grid.theta),
            alpha=tuple(finite("grid.alpha", each) for each in grid.alpha),
            top_k=tuple(grid.top_k),
        ),
        limit=message.limit if message.HasField("limit") else None,
        seed=message.seed if message.HasField("seed") else None,
        index=message.index if message.HasField("index") else None,
        timeout_s=(
            finite("timeout_s", message.timeout_s) if message.HasField("timeout_s") else timeout_s
        ),
        request_id=message.request_id,
        tenant=tenant,
    )


def _policies_to_pb(policies: Iterable[PolicyRequest]) -> list[policy_pb2.Policy]:
    found = []
    for at, policy in enumerate(policies):
        with _told_of(at):
            found.append(policy_request_to_pb(policy))
    return found


def _policies_from_pb(messages: Iterable[policy_pb2.Policy]) -> tuple[PolicyRequest, ...]:
    found = []
    for at, message in enumerate(messages):
        with _told_of(at):
            found.append(policy_request_from_pb(message))
    return tuple(found)


@contextmanager
def _told_of(at: int) -> Iterator[None]:
    """What is wrong with a policy, told of one of several."""
    try:
        yield
    except InvalidRequest as error:
        wrong = [
            Violation(f"policies[{at}]{each.field.removeprefix('policy')}", each.description)
            for each in error.violations
        ]
        raise InvalidRequest(wrong) from error


def evaluation_question_to_pb(question: EvaluationQuestion) -> pb.EvaluationQuestion:
    def texts(field: str, values: Iterable[str]) -> list[str]:
        return [carried_text(f"questions.{field}", each) for each in values]

    return pb.EvaluationQuestion(
        id=carried_text("questions.id", question.id),
        question=carried_text("questions.question", question.question),
        answers=texts("answers", question.answers),
        entity=carried_text("questions.entity", question.entity),
        labels=[
            pb.QuestionLabel(
                name=carried_text("questions.labels", name),
                value=carried_text("questions.labels", value),
            )
            for name, value in question.labels
        ],
        supports=texts("supports", question.supports),
        choices=texts("choices", question.choices),
    )


def evaluation_question_from_pb(message: pb.EvaluationQuestion) -> EvaluationQuestion:
    return EvaluationQuestion(
        id=message.id,
        question=message.question,
        answers=tuple(message.answers),
        entity=message.entity,
        labels=tuple((each.name, each.value) for each in message.labels),
        supports=tuple(message.supports),
        choices=tuple(message.choices),
    )
