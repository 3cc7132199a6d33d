from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from scaar.core.ports import Evaluator
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.testing.conformance.evaluator import EvaluatorConformance
from scaar.testing.sockets import TRANSPORTS, evaluator_by
from scaar.testing.steady_answerer import SteadyAnswerer

SETTINGS = EvaluatorSettings(
    attempts=2,
    patience_s=0.0,
    attempt_pause_s=0.01,
    shard_predictions=6,
    max_unfinished=3,
    max_questions=40,
)


@pytest.mark.parametrize("transport", TRANSPORTS)
class TestHostedEvaluator(EvaluatorConformance):
    @pytest.fixture
    async def evaluator(  # type: ignore[override]
        self, transport: str, answerer: SteadyAnswerer, tmp_path: Path
    ) -> AsyncIterator[Evaluator]:
        opened = open_evaluator(
            SETTINGS,
            answerer,
            database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
            lab_index=lambda seed: "lab",
        )
        async with opened as hosted, evaluator_by(transport, hosted) as evaluator:
            yield evaluator
