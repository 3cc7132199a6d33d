"""A shard of an evaluation's work, executed concurrently; predictions are stored as they come."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from scaar.core.errors import ScaarError
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest, Provenance
from scaar.evaluator.execution.cancellation import cancel_all
from scaar.evaluator.execution.prediction import PredictionOutcome, predict
from scaar.evaluator.execution.prediction_writer import PredictionWriter
from scaar.evaluator.execution.provenance import without_request_id
from scaar.evaluator.execution.scorers import NO_CONTROLS, Controls, answerer_for
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Prediction
from scaar.evaluator.store.port import PredictionStore


class QuestionLimiter(asyncio.Semaphore):
    """FIFO semaphore that bounds the number of concurrent questions across shards."""

    def __init__(self, concurrency: int) -> None:
        super().__init__(concurrency)
        self.concurrency = concurrency


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
    controls. ``on_stored`` is called for each prediction once it is stored, ``on_last_started``
    when the last question has started. After an error or a cancellation no question is running
    and stored predictions are kept.

    Raises:
        ScaarError: the store cannot store a prediction, or the provenance of an answer is not the
            expected one.
    """
    waiting, writer = deque(work), PredictionWriter(store, on_stored)

    async def answer_questions() -> None:
        while waiting:
            async with limiter:
                # Another task may have taken the last question meanwhile.
                if not waiting:
                    break
                each = waiting.popleft()
                if not waiting:
                    on_last_started()
                found = await predict(
                    answerer_for(each.setting, answerer, controls), each, template
                )
            _require_expected(found, expected)
            await writer.put(found.prediction)

    async def answer_all() -> None:
        tasks = [asyncio.create_task(answer_questions()) for _ in range(limiter.concurrency)]
        try:
            await asyncio.gather(*tasks)
        finally:
            await cancel_all(tasks)

    answering, writing = asyncio.create_task(answer_all()), asyncio.create_task(writer.run())
    answering.add_done_callback(lambda _: writer.end())
    try:
        await asyncio.wait({answering, writing}, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        try:
            await cancel_all((answering,))
        finally:
            await asyncio.gather(writing, return_exceptions=True)
    for each in (writing, answering):
        each.result()


def _require_expected(found: PredictionOutcome, expected: Mapping[str, Provenance]) -> None:
    label = found.prediction.setting
    if found.provenance is None or without_request_id(found.provenance) == expected[label]:
        return
    raise ScaarError(
        f"the provenance of {label} changed while the evaluation ran: model, scorer, index or "
        "policy differ from those at its start; run the evaluation again"
    )
