"""A shard of an evaluation's work, executed concurrently; predictions are stored as they come."""

from collections.abc import Callable, Iterable, Mapping

from scaar.core.errors import ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest, Provenance
from scaar.evaluator.execution.items import PredictionStore, QuestionLimiter, evaluate_items
from scaar.evaluator.execution.prediction import PredictionOutcome, predict
from scaar.evaluator.execution.provenance import without_request_id
from scaar.evaluator.execution.scorers import NO_CONTROLS, Controls, answerer_for
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Prediction


async def run_shard(
    answerer: Answerer,
    work: Iterable[Work],
    store: PredictionStore,
    *,
    template: AnswerRequest,
    expected: Mapping[str, Provenance],
    limiter: QuestionLimiter,
    controls: Controls = NO_CONTROLS,
    on_stored: Callable[[Prediction], None] = lambda _: None,
    on_last_started: Callable[[], None] = lambda: None,
) -> None:
    """Answer all questions of the work and store their predictions.

    ``expected`` has the provenance of every setting, and ``controls`` the answerers of scorer
    controls. The callbacks are those of
    :func:`~scaar.evaluator.execution.items.evaluate_items`.

    Raises:
        ScaarError: the store cannot store a prediction, or the provenance of an answer is not the
            expected one.
    """

    async def answer(each: Work) -> Prediction:
        found = await predict(answerer_for(each.setting, answerer, controls), each, template)
        _require_expected(found, expected)
        return found.prediction

    await evaluate_items(
        *(work, answer, store),
        limiter=limiter,
        on_stored=on_stored,
        on_last_started=on_last_started,
    )


def _require_expected(found: PredictionOutcome, expected: Mapping[str, Provenance]) -> None:
    label = found.prediction.setting
    if found.provenance is None or without_request_id(found.provenance) == expected[label]:
        return
    raise ScaarError(
        f"the provenance of {label} changed while the evaluation ran: model, scorer, index or "
        "policy differ from those at its start; run the evaluation again"
    )
