"""A shard of an evaluation's work, several questions at a time, each kept when it is there."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

from scaar.core.errors import ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest, Provenance
from scaar.evaluator.execution.opening import lasting
from scaar.evaluator.execution.predict import Predicted, predict
from scaar.evaluator.execution.scorers import NO_CONTROLS, Controls, asked_of
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Prediction
from scaar.evaluator.store.port import PredictionStore


async def run_shard(
    answerer: Answerer,
    work: Iterable[Work],
    store: PredictionStore,
    *,
    template: AnswerRequest,
    expected: Mapping[str, Provenance],
    concurrency: int,
    controls: Controls = NO_CONTROLS,
    told: Callable[[Prediction], None] = lambda _: None,
) -> None:
    """Asks all of it, ``concurrency`` questions at a time, and tells of each that is kept.

    ``expected`` is what answers under each setting, and ``controls`` whom those by a control of
    the scorer are asked of. Where it ends early, by an error or cancelled, what was kept is whole
    and nothing goes on; no more than ``concurrency`` questions were asked for nothing.

    Raises:
        ScaarError: the store cannot keep a prediction, or something else answers than expected.
    """
    waiting = iter(work)

    async def ask_by_turns() -> None:
        for each in waiting:
            found = await predict(asked_of(each.setting, answerer, controls), each, template)
            _require_the_same(found, expected)
            await store.add(found.prediction)
            told(found.prediction)

    asking = [asyncio.create_task(ask_by_turns()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*asking)
    finally:
        for left in asking:
            left.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


def _require_the_same(found: Predicted, expected: Mapping[str, Provenance]) -> None:
    label = found.prediction.setting
    if found.provenance is None or lasting(found.provenance) == expected[label]:
        return
    raise ScaarError(
        f"what answers under {label} has changed while the evaluation ran: model, scorer, index or "
        "policy are no longer those that it began with"
    )
