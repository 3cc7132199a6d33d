"""``evaluate`` with an evaluator on a real socket, whose evaluations are fixed."""

import asyncio
import signal
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
)
from scaar.evaluation import InvalidRequest, evaluate
from scaar.testing.console_back_ends import RUNNING, FixedEvaluator
from scaar.testing.sockets import serving
from scaar.wire.evaluator import EvaluatorServicer


class InterruptingEvaluator(FixedEvaluator):
    """Interrupts the main thread once it watches the evaluation, which never ends."""

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        return RUNNING

    async def watch_evaluation(
        self, evaluation_id: str
    ) -> AsyncGenerator[EvaluationProgress, None]:
        async for each in super().watch_evaluation(evaluation_id):
            yield each
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        await asyncio.Event().wait()


@pytest.fixture
def target() -> Iterator[str]:
    loop, started, stopping = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    targets: list[str] = []

    async def serve() -> None:
        async with serving(EvaluatorServicer(InterruptingEvaluator())) as (_, target):
            targets.append(target)
            started.set()
            await stopping.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(timeout=600)
        yield targets[0]
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
        loop.close()


def test_an_interrupted_call_names_the_evaluation_that_continues(target: str) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        evaluate("lab", "no_retrieval", target=target, progress=False)
    (note,) = caught.value.__notes__
    assert note == (
        f"evaluation {RUNNING.id} continues: watch it with scaar eval watch {RUNNING.id} --target "
        f"{target}, or cancel it with scaar eval cancel {RUNNING.id} --target {target}"
    )


def test_a_warning_names_the_data_set_whose_rules_a_target_does_not_apply(
    target: str, tmp_path: Path
) -> None:
    file = tmp_path / "dev.json"
    file.write_text('[{"qid": "1", "term": "Ada", "question": "Was Ada here?", "answer": true}]')
    with (
        pytest.warns(UserWarning, match="evaluated as jsonl, not as strategyqa"),
        pytest.raises(KeyboardInterrupt),
    ):
        evaluate(f"strategyqa:{file}", "no_retrieval", target=target, progress=False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"out": __file__}, f"out: {__file__} is not a folder"),
        ({"target": f"embedded:{__file__}"}, f"target: {__file__} is not a folder"),
        ({"out": 5}, "out: must be a path, not 5"),
        ({"out": "a\0b"}, "out: must not contain a null character"),
        ({"target": "embedded:"}, "target: must name a folder, embedded:DIR"),
        ({"target": "embedded:a\0b"}, "target: must name a folder, embedded:DIR"),
        ({"values": {"heat": 0.3}}, "values.heat: is not a setting"),
        ({"values": {"theta": 5}}, "values.theta: must be in"),
        ({"limit": 10**9}, "limit: must be 0 to 8000"),
        ({"dataset": "jsonl:/nowhere"}, "dataset: /nowhere cannot be read"),
        ({"timeout_s": -1}, "timeout_s: must be in"),
        ({"orchestrator": "host"}, "orchestrator: must have a port"),
    ],
)
def test_an_error_names_the_argument(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    place = {} if "target" in given else {"out": tmp_path / "out"}
    with pytest.raises(InvalidRequest, match=f"^{message}"):
        evaluate(**{"dataset": "lab", "policies": "flare", "limit": 2, **place, **given})
