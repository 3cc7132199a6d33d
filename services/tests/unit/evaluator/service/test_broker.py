"""The broker of a hosted evaluator."""

import pytest
from pydantic import SecretStr

from scaar.compose import open_hosted_evaluator
from scaar.core.errors import InvalidRequest
from scaar.evaluator.settings import EvaluatorSettings


@pytest.mark.parametrize("executor", ["in_process", "poll"])
async def test_a_broker_that_the_executor_does_not_use_is_rejected(executor: str) -> None:
    settings = EvaluatorSettings.model_validate(
        {"executor": executor, "broker": SecretStr("redis://127.0.0.1:1/0")}
    )
    message = f"broker: requires executor celery, but the executor is {executor}"
    with pytest.raises(InvalidRequest, match=message):
        async with open_hosted_evaluator(settings):
            pass


async def test_a_broker_is_required_by_the_executor_that_uses_one() -> None:
    with pytest.raises(InvalidRequest, match="broker: must be set for workers"):
        async with open_hosted_evaluator(EvaluatorSettings(executor="celery")):
            pass
