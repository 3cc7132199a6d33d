"""The broker of a hosted evaluator."""

import pytest

from scaar.compose import open_hosted_evaluator
from scaar.core.errors import InvalidRequest
from scaar.evaluator.settings import EvaluatorSettings


async def test_a_broker_is_required_by_the_executor_that_uses_one() -> None:
    with pytest.raises(InvalidRequest, match="broker: must be set for workers"):
        async with open_hosted_evaluator(EvaluatorSettings(executor="celery")):
            pass
