"""An evaluation by workers on real servers, and what it has to come to whatever dies."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from scaar.core.errors import BackendUnavailable
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationPrediction,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    ReportFormat,
)
from scaar.core.ports import Evaluator
from scaar.core.types import PolicyRequest

from ..servers.postgresql.postgresql_server import PostgresqlServer
from ..servers.rabbitmq.rabbitmq_server import RabbitmqServer
from ..servers.redis.redis_server import RedisServer
from .processes import Orchestrator, Worker

Broker = RedisServer | RabbitmqServer
PATIENCE_S = 540.0
"""How long a test waits for what must come."""
COUNT = 12
POLICIES = ("no_retrieval", "flare")
REQUEST = EvaluationRequest(
    policies=tuple(PolicyRequest(name) for name in POLICIES), indexes=("lab",), request_id="one"
)


async def questions(*, poison: bool = False) -> AsyncIterator[EvaluationQuestion]:
    """What is asked; one of them may be one that nothing can be said of."""
    for at in range(COUNT):
        name = "poison" if poison and at == 4 else "number"
        yield EvaluationQuestion(f"q{at}", f"Who is {name} {at}?", ("Ada" if at % 3 else "Grace",))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an evaluation without its start time."""

    predictions: tuple[EvaluationPrediction, ...]
    report: object


async def outcome_of(evaluator: Evaluator, evaluation: EvaluationDescription) -> Outcome:
    page = await evaluator.list_predictions(evaluation.id, page_size=1_000)
    report = await evaluator.report(evaluation.id, ReportFormat.JSON)
    return Outcome(page.predictions, json.loads(report.replace(evaluation.created, "")))


@dataclass(slots=True)
class Scene:
    """An evaluator whose shards workers ask, on servers of its own; times are short."""

    folder: Path
    postgresql: PostgresqlServer
    broker: Broker | None
    orchestrator: Orchestrator
    settings: dict[str, object]
    evaluator: Evaluator
    database: str
    workers: list[Worker] = field(default_factory=list)

    async def start_worker(self, *, ahead_s: float = 0.0, **settings: object) -> Worker:
        """A worker that takes shards."""
        folder = self.folder / f"worker-{len(self.workers)}"
        folder.mkdir()
        worker = Worker(folder, {**self.settings, **settings})
        self.workers.append(worker)
        await asyncio.to_thread(worker.start, ahead_s=ahead_s)
        return worker

    async def begin(self, *, poison: bool = False) -> EvaluationDescription:
        return await self.evaluator.create_evaluation(REQUEST, questions(poison=poison))

    async def begin_held(self) -> EvaluationDescription:
        """An evaluation of which two questions wait for the orchestrator, which holds."""
        self.orchestrator.hold()
        evaluation = await self.begin()
        await self.until_in_flight(2)
        return evaluation

    async def until_in_flight(self, count: int = 1) -> None:
        """Return when workers have this many questions in flight at the held orchestrator."""
        await until(lambda: bool(self.asking()) and self.orchestrator.held >= count)

    def asking(self) -> list[int]:
        """The ids of the processes that hold shards."""
        held = self.reported("SELECT DISTINCT holder FROM shards WHERE holder IS NOT NULL")
        return [int(line.split()[-1]) for line in held.splitlines()]

    def reported(self, statement: str) -> str:
        """What the database says to a statement."""
        return self.postgresql.execute(statement, database=self.database)

    async def ended(self, evaluation: EvaluationDescription) -> EvaluationDescription:
        """The evaluation when it has ended, whatever is away meanwhile."""
        async with asyncio.timeout(PATIENCE_S):
            while not evaluation.state.ended:
                try:
                    async for each in self.evaluator.watch_evaluation(evaluation.id):
                        evaluation = each.evaluation
                except BackendUnavailable:
                    await asyncio.sleep(0.2)
        return evaluation

    async def succeeded(self, evaluation: EvaluationDescription) -> Outcome:
        """What the evaluation came to; it must have succeeded, and nothing be left of it."""
        last = await self.ended(evaluation)
        assert last.state is EvaluationState.SUCCEEDED, last.error
        unfinished = "SELECT count(*) FROM evaluations WHERE state IN ('queued', 'running')"
        assert self.reported(unfinished) == "0"
        return await outcome_of(self.evaluator, last)


async def until(true: Callable[[], bool]) -> None:
    """Returns when it is true; other processes make it so."""
    async with asyncio.timeout(PATIENCE_S):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
