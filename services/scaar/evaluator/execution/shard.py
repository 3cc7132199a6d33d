"""A shard of an evaluation's work, several questions at a time, each kept when it is there."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from scaar.core.errors import ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest, Provenance
from scaar.evaluator.execution.keeping import Keeping
from scaar.evaluator.execution.opening import lasting
from scaar.evaluator.execution.predict import Predicted, predict
from scaar.evaluator.execution.scorers import NO_CONTROLS, Controls, asked_of
from scaar.evaluator.execution.stopping import stopped
from scaar.evaluator.execution.turns import Turns
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
    turns: Turns,
    controls: Controls = NO_CONTROLS,
    told: Callable[[Prediction], None] = lambda _: None,
    last_begun: Callable[[], None] = lambda: None,
) -> None:
    """Asks all of it, a question a turn, and tells of each prediction that is kept.

    ``expected`` is what answers under each setting, and ``controls`` whom those by a control of
    the scorer are asked of. ``last_begun`` is called when the last question has its turn. Where it
    ends early, by an error or cancelled, nothing goes on and what was answered is kept.

    Raises:
        ScaarError: the store cannot keep a prediction, or something else answers than expected.
    """
    waiting, keeping = deque(work), Keeping(store, told)

    async def ask_by_turns() -> None:
        while waiting:
            async with turns:
                # There may have been another turn meanwhile.
                if not waiting:
                    break
                each = waiting.popleft()
                if not waiting:
                    last_begun()
                found = await predict(asked_of(each.setting, answerer, controls), each, template)
            _require_the_same(found, expected)
            await keeping.bring(found.prediction)

    async def ask() -> None:
        asking = [asyncio.create_task(ask_by_turns()) for _ in range(turns.at_once)]
        try:
            await asyncio.gather(*asking)
        finally:
            await stopped(asking)

    asked, kept = asyncio.create_task(ask()), asyncio.create_task(keeping.keep())
    asked.add_done_callback(lambda _: keeping.end())
    try:
        await asyncio.wait({asked, kept}, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        try:
            await stopped((asked,))
        finally:
            await asyncio.gather(kept, return_exceptions=True)
    for each in (kept, asked):
        each.result()


def _require_the_same(found: Predicted, expected: Mapping[str, Provenance]) -> None:
    label = found.prediction.setting
    if found.provenance is None or lasting(found.provenance) == expected[label]:
        return
    raise ScaarError(
        f"what answers under {label} has changed while the evaluation ran: model, scorer, index or "
        "policy are no longer those that it began with"
    )
