"""Load on the system: questions, evaluations, and an index that is repeatedly replaced.

Each caller uses the contract's stubs over its own channel, without retries, so that every failure
is counted.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from uuid import uuid4

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from scaar.v1.evaluator_pb2 import (
    EVALUATION_STATE_CANCELLED,
    EVALUATION_STATE_FAILED,
    EVALUATION_STATE_SUCCEEDED,
    CreateEvaluationRequest,
    Evaluation,
    EvaluationQuestion,
    GetEvaluationRequest,
    ListPredictionsRequest,
)
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub
from scaar.v1.orchestrator_pb2 import (
    ON_FAILURE_ACCEPT_DRAFT,
    ON_FAILURE_FAIL,
    AnswerRequest,
    Budget,
)
from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub
from scaar.v1.records_pb2 import ListRecordsRequest
from scaar.v1.records_pb2_grpc import RecordsServiceStub
from scaar.v1.retriever_pb2 import (
    INDEX_MODE_REPLACE,
    IndexPassagesRequest,
    Passage,
    RetrieveRequest,
)
from scaar.v1.retriever_pb2_grpc import RetrieverServiceStub

from ..installation.access import channel_options
from ..installation.client import policy_of, stream_request
from ..installation.load import QUESTIONS
from ..installation.ours.installation import RECORDS, full_name
from .invariants import Violation, check_call, check_evaluation, check_records, check_search
from .records import Call, Row, Search, Text
from .system import System

CALLERS = 4
POLICIES = ("scaar", "flare", "single_round", "no_retrieval")
EVALUATED_POLICIES = ("scaar", "single_round")
EVALUATED_REPEATS = 3
DEADLINE_S = 15.0
"""Time limit of a call, in seconds."""
_REHEARSAL_S = 60.0
"""Time limit of a call before the first injection, since first calls take longer."""
_GUARD_S = 15.0
"""Additional time of the caller's own deadline, so that the service's deadline passes first."""
_PAUSE_S = 0.2
"""Delay after a failed call, in seconds."""
_EVALUATION_S = 120.0
INDEX = "chaos"
PASSAGES = 20

Key = tuple[str, str]
_T = TypeVar("_T")


@dataclass(slots=True)
class TrafficRecord:
    """Calls and violations so far."""

    calls: list[Call] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    evaluations: int = 0
    rows: int = 0
    searches: int = 0
    generations: int = 0

    def summary(self) -> str:
        """Return the number of calls, and the failures other than answers."""
        other = [call for call in self.calls if not call.question[0] and not call.succeeded]
        counts = Counter(f"{call.method} {call.code}" for call in other)
        failed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        return (
            f"{len(self.calls)} calls, {len(self.answers(0))} for answers; "
            f"{self.evaluations} evaluations with {self.rows} rows; "
            f"{self.generations} generations of an index and {self.searches} searches of it; "
            f"other failed calls: {failed or 'none'}"
        )

    def answers(self, since: float, until: float = float("inf")) -> list[Call]:
        """Return the answer calls that ended in this time."""
        return [each for each in self.calls if each.question[0] and since <= each.ended < until]


class Traffic:
    """Callers of one installation, and the expected results of an undisturbed run."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.seen = TrafficRecord()
        self.expected: dict[Key, Text] = {}
        self.expected_rows: dict[Key, Row] = {}
        self._deadline_s = _REHEARSAL_S
        self._stopping = asyncio.Event()

    async def rehearse(self) -> None:
        """Record the expected results: answer every question twice without faults.

        Raises:
            RuntimeError: a call failed, or the two answers differ.
        """
        questions = [(question, policy) for question in QUESTIONS for policy in POLICIES]
        async with self._channel("orchestrator") as channel:
            for method in ("Answer", "StreamAnswer"):
                for call in await self._ask_all(channel, questions, method):
                    if not call.succeeded:
                        raise RuntimeError(f"{call} failed without a fault")
                    (answer,) = call.answers
                    if self.expected.setdefault(call.question, answer) != answer:
                        known = self.expected[call.question]
                        raise RuntimeError(f"{call.question}: {answer} is not {known}")
        async with self._channel("evaluator") as channel:
            rows = await self._evaluate(EvaluatorServiceStub(channel), "rehearsal")
        self.expected_rows = {row.key: row for row in rows}
        if len(rows) != len(self.expected_rows) or any(row.failure for row in rows):
            raise RuntimeError(f"an evaluation without a fault has invalid rows: {rows}")
        async with self._channel("retriever") as channel:
            await self._replace(RetrieverServiceStub(channel), 0)
        self.seen, self._deadline_s = TrafficRecord(), DEADLINE_S

    async def check_records(self, within_s: float) -> list[Violation]:
        """Return the violations of the records of all answers, written within the time."""
        until = time.monotonic() + within_s
        while True:
            found = check_records(self.seen.calls, await self._recorded(), self._system.kills)
            if not found or time.monotonic() > until:
                return found
            await asyncio.sleep(_PAUSE_S)

    async def _recorded(self) -> dict[str, list[str]]:
        """Return the short answers of all records, by request id."""
        found: dict[str, list[str]] = {}
        async with self._channel(RECORDS) as channel:
            stub, token = RecordsServiceStub(channel), ""
            while True:
                request = ListRecordsRequest(page_size=1_000, page_token=token)
                page = await stub.ListRecords(request, timeout=DEADLINE_S)
                for each in page.records:
                    found.setdefault(each.request_id, []).append(each.answer)
                if not (token := page.next_page_token):
                    return found

    @asynccontextmanager
    async def flowing(self) -> AsyncIterator[TrafficRecord]:
        """Run all callers until the block ends, then wait for their last calls."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(CALLERS):
                tasks.create_task(self._ask_on(number))
            tasks.create_task(self._evaluate_on())
            tasks.create_task(self._search_on())
            try:
                yield self.seen
            finally:
                self._stopping.set()

    async def _ask_on(self, number: int) -> None:
        """Ask one question after another, alternating between unary and streaming calls."""
        variants = itertools.cycle((each, number) for each in POLICIES for number in range(4))
        questions = itertools.cycle(QUESTIONS[number % len(QUESTIONS) :] + QUESTIONS[:number])
        async with self._channel("orchestrator") as channel:
            while not self._stopping.is_set():
                policy, variant = next(variants)
                method = "StreamAnswer" if variant % 2 else "Answer"
                call = await self._ask(channel, (next(questions), policy), method, variant >= 2)
                if not call.succeeded:
                    await asyncio.sleep(_PAUSE_S)

    async def _ask_all(
        self, channel: grpc.aio.Channel, questions: Sequence[Key], method: str
    ) -> list[Call]:
        remaining, made = iter(questions), list[Call]()

        async def caller() -> None:
            for question in remaining:
                made.append(await self._ask(channel, question, method, False))

        async with asyncio.TaskGroup() as tasks:
            for _ in range(CALLERS):
                tasks.create_task(caller())
        return made

    async def _ask(
        self, channel: grpc.aio.Channel, question: Key, method: str, may_degrade: bool
    ) -> Call:
        stub, request_id = OrchestratorServiceStub(channel), str(uuid4())
        request = AnswerRequest(
            request_id=request_id,
            question=question[0],
            policy=policy_of(question[1]),
            index="lab",
            budget=Budget(timeout_s=self._deadline_s),
            on_failure=ON_FAILURE_ACCEPT_DRAFT if may_degrade else ON_FAILURE_FAIL,
        )
        answers: list[Text] = []

        async def ask(timeout_s: float) -> None:
            if method == "Answer":
                answers.append(Text.of((await stub.Answer(request, timeout=timeout_s)).answer))
                return
            async for each in stub.StreamAnswer(stream_request(request), timeout=timeout_s):
                if each.event.HasField("finished"):
                    answers.append(Text.of(each.event.finished.answer))

        return await self._call(
            method,
            ask,
            answers=answers,
            question=question,
            may_degrade=may_degrade,
            request_id=request_id,
        )

    async def _evaluate_on(self) -> None:
        async with self._channel("evaluator") as channel:
            stub = EvaluatorServiceStub(channel)
            for number in itertools.count():
                if self._stopping.is_set():
                    return
                rows = await self._evaluate(stub, f"evaluation-{number}")
                at = time.monotonic()
                self.seen.violations += check_evaluation(
                    f"evaluation-{number}", at, rows=rows, expected=self.expected_rows
                )
                self.seen.evaluations += 1
                self.seen.rows += len(rows)

    async def _evaluate(self, stub: EvaluatorServiceStub, name: str) -> list[Row]:
        """Create an evaluation, wait for its end, and return its rows."""
        evaluation = await self._until_done(partial(self._create, stub, name))
        until = time.monotonic() + _EVALUATION_S
        while evaluation.state not in _ENDED:
            if time.monotonic() > until:
                text = f"{name} is still running after {_EVALUATION_S:g} s: {evaluation}"
                self._wrong("evaluation ends", " ".join(text.split()))
                return []
            await asyncio.sleep(_PAUSE_S)
            evaluation = await self._until_done(partial(self._get, stub, evaluation.id))
        if evaluation.state != EVALUATION_STATE_SUCCEEDED:
            self._wrong("evaluation succeeds", f"{name} failed: {evaluation.error}")
        return await self._until_done(partial(self._rows, stub, evaluation.id))

    async def _create(self, stub: EvaluatorServiceStub, name: str) -> Evaluation | None:
        policies = [policy_of(each) for each in EVALUATED_POLICIES]

        async def messages() -> AsyncIterator[CreateEvaluationRequest]:
            yield CreateEvaluationRequest(request_id=name, policies=policies, indexes=["lab"])
            for number in range(EVALUATED_REPEATS):
                questions = [
                    EvaluationQuestion(id=f"{at}-{number}", question=each, answers=["Ada"])
                    for at, each in enumerate(QUESTIONS)
                ]
                yield CreateEvaluationRequest(questions=questions)

        created: list[Evaluation] = []

        async def create(timeout_s: float) -> None:
            call = stub.CreateEvaluation(messages(), timeout=timeout_s)
            created.append((await call).evaluation)

        await self._call("CreateEvaluation", create)
        return created[0] if created else None

    async def _get(self, stub: EvaluatorServiceStub, evaluation: str) -> Evaluation | None:
        request, found = GetEvaluationRequest(evaluation_id=evaluation), []

        async def get(timeout_s: float) -> None:
            found.append((await stub.GetEvaluation(request, timeout=timeout_s)).evaluation)

        await self._call("GetEvaluation", get)
        return found[0] if found else None

    async def _rows(self, stub: EvaluatorServiceStub, evaluation: str) -> list[Row] | None:
        found: list[Row] = []

        async def pages(timeout_s: float) -> None:
            token = ""
            while True:
                request = ListPredictionsRequest(
                    evaluation_id=evaluation, page_size=7, page_token=token
                )
                page = await stub.ListPredictions(request, timeout=timeout_s)
                found.extend(Row.of(each) for each in page.predictions)
                if not (token := page.next_page_token):
                    return

        call = await self._call("ListPredictions", pages)
        return found if call.succeeded else None

    async def _search_on(self) -> None:
        """Alternately replace an index by its next generation and search it."""
        last, uncertain = 0, set[int]()
        async with self._channel("retriever") as channel:
            stub = RetrieverServiceStub(channel)
            for generation in itertools.count(1):
                if self._stopping.is_set():
                    return
                uncertain.add(generation)
                if (await self._replace(stub, generation)).succeeded:
                    # An earlier replacement that failed may still complete later.
                    uncertain.remove(generation)
                    last = generation
                    self.seen.generations += 1
                for _ in range(4):
                    await self._search(stub, frozenset({last, *uncertain}))
                    await asyncio.sleep(_PAUSE_S)

    async def _replace(self, stub: RetrieverServiceStub, generation: int) -> Call:
        passages = [
            Passage(id=f"p{at}", text=f"A passage of the number {at} of generation {generation}.")
            for at in range(PASSAGES)
        ]

        async def messages() -> AsyncIterator[IndexPassagesRequest]:
            yield IndexPassagesRequest(index=INDEX, mode=INDEX_MODE_REPLACE, passages=passages)

        async def replace(timeout_s: float) -> None:
            await stub.IndexPassages(messages(), timeout=timeout_s)

        return await self._call("IndexPassages", replace)

    async def _search(self, stub: RetrieverServiceStub, possible: frozenset[int]) -> None:
        request = RetrieveRequest(queries=["passage"], top_k=PASSAGES, index=INDEX)

        async def retrieve(timeout_s: float) -> None:
            (found,) = (await stub.Retrieve(request, timeout=timeout_s)).results
            generations = [int(each.text.split()[-1].strip(".")) for each in found.passages]
            search = Search(time.monotonic(), tuple(generations), possible, PASSAGES)
            self.seen.violations += check_search(search)
            self.seen.searches += 1

        await self._call("Retrieve", retrieve)

    async def _call(
        self,
        method: str,
        make: Callable[[float], Awaitable[None]],
        *,
        answers: list[Text] | None = None,
        question: Key = ("", ""),
        may_degrade: bool = False,
        request_id: str = "",
    ) -> Call:
        """Make a call, record its result, and check the invariants."""
        # Only answers have a time limit in the request besides the caller's deadline.
        timeout_s = self._deadline_s + (_GUARD_S if question[0] else 0.0)
        code, reason, details = "OK", "", ""
        began = time.monotonic()
        try:
            await make(timeout_s)
        except grpc.aio.AioRpcError as error:
            code, reason, details = error.code().name, _reason(error), error.details() or ""
        call = Call(
            method,
            began,
            time.monotonic(),
            code,
            reason,
            details,
            self._deadline_s,
            tuple(answers or ()),
            question,
            may_degrade,
            request_id,
        )
        self.seen.calls.append(call)
        if self.expected_rows:
            paused_s = sum(
                max(0.0, min(pause.ended, call.ended) - max(pause.began, call.began))
                for pause in self._system.pauses
            )
            self.seen.violations += check_call(call, self.expected, paused_s=paused_s)
        return call

    async def _until_done(self, call: Callable[[], Awaitable[_T | None]]) -> _T:
        until = time.monotonic() + _EVALUATION_S
        while (found := await call()) is None:
            if time.monotonic() > until:
                raise RuntimeError(f"no evaluator answers: {self.seen.calls[-1]}")
            await asyncio.sleep(_PAUSE_S)
        return found

    def _wrong(self, rule: str, text: str) -> None:
        self.seen.violations.append(Violation(rule, time.monotonic(), text))

    def _channel(self, service: str) -> grpc.aio.Channel:
        options = channel_options(full_name(service))
        return grpc.aio.insecure_channel(self._system.target(service), options=options)


_ENDED = (EVALUATION_STATE_SUCCEEDED, EVALUATION_STATE_FAILED, EVALUATION_STATE_CANCELLED)


def _reason(error: grpc.aio.AioRpcError) -> str:
    """Return the reason of scaar's error; empty for a status of gRPC itself."""
    given = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    info = ErrorInfo()
    for detail in Status.FromString(given).details:
        if detail.Unpack(info) and info.domain == "scaar":
            return str(info.reason)
    return ""
