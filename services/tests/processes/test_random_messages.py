"""Whatever is sent to a service, it answers with a status that says what is wrong, and serves on.

Each call of the services, as processes with the lab's models and real indexes, is sent
``SCAAR_FUZZ_MESSAGES`` messages gone wrong. ``SCAAR_FUZZ_SEED`` makes others. Each is also sent
messages that are too large, and the largest that are permitted: a sample of ``SCAAR_FUZZ_SIZES``
a service, or ``all``; ``SCAAR_FUZZ_REPORT`` names a file for what they cost.
"""

import asyncio
import base64
import os
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

import grpc
import pytest
import sqlalchemy as sa
from google.protobuf.descriptor import MethodDescriptor

from scaar.core.errors import NotFound
from scaar.core.evaluations import EvaluationQuestion, EvaluationRequest
from scaar.core.types import Passage, PolicyRequest
from scaar.database.database import open_database
from scaar.database.migration import open_checked_database
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.evaluator.store.database.tables import EVALUATIONS
from scaar.lab.passages import passages_of
from scaar.lab.world import build_world
from scaar.records.store.schema import SCHEMA as RECORDS_SCHEMA
from scaar.records.store.tables import RECORDS as RECORDS_TABLE
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.request_limits import MIN_RECEIVE_BYTES
from scaar.testing.answer_records import record_answers
from scaar.testing.processes import RunningService, running_service
from scaar.testing.steady_answerer import SteadyAnswerer
from scaar.wire.request_limits import ServiceLimits
from scaar.wire.retriever import RemoteRetriever
from tests.unit.core.scripted import UNSURE_OF_PARIS, asking, parts

from .large_messages import LargeMessage, large_messages
from .random_messages import mutated
from .seed_messages import (
    CANCELLED_EVALUATION,
    KEPT_EVALUATION,
    KEPT_INDEX,
    KEPT_RECORD,
    SEEDS,
    SERVICES,
)
from .watched_process import HealthWatch, ProcessWatch

MESSAGES = int(os.environ.get("SCAAR_FUZZ_MESSAGES", "60"))
ENOUGH = 60
"""Messages of a method of which some are valid."""
SEED = int(os.environ.get("SCAAR_FUZZ_SEED", "1"))
SIZES = os.environ.get("SCAAR_FUZZ_SIZES", "12")
HEALTH_WITHIN_S = 0.25
"""Beyond what health waits for on a busy machine while nothing is sent."""
MAX_REFUSAL_CPU_S = 0.5
MAX_GROWTH_MIB = 192
TRIES = 5
"""Of a measurement on a busy machine; the best counts."""
IDLE_S = 0.5
AT_ONCE = 8
TIDIED_EVERY = 400
TIMEOUT_S = 2.0
GOOD_TIMEOUT_S = 60.0
LOST_BY_CLIENT = "Internal error from Core"
"""What gRPC's client says when a stream was refused as it sent more, and it has lost why."""
ALLOWED = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
}
REFUSALS = {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED}
RETRIEVER, ORCHESTRATOR = "scaar.v1.RetrieverService", "scaar.v1.OrchestratorService"
EVALUATOR, RECORDS = "scaar.v1.EvaluatorService", "scaar.v1.RecordsService"
COMMANDS = {
    "scaar.v1.GeneratorService": "generator",
    "scaar.v1.ScorerService": "scorer",
    "scaar.v1.QueryBuilderService": "query-builder",
    RETRIEVER: "retriever",
    ORCHESTRATOR: "orchestrator",
    EVALUATOR: "evaluator",
    RECORDS: "records",
}


@pytest.fixture(scope="module")
def running(service: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """The service as a process; what it asks is embedded in it."""
    home = tmp_path_factory.mktemp("fuzzed") / "home"
    if service in (RETRIEVER, ORCHESTRATOR, EVALUATOR):
        asyncio.run(_build_indexes(home / "indexes"))
    if service == EVALUATOR:
        asyncio.run(_keep_evaluations(f"sqlite:///{home / 'evaluations.sqlite'}"))
    if service == RECORDS:
        asyncio.run(_keep_record(f"sqlite:///{home / 'records.sqlite'}"))
    with running_service(COMMANDS[service], home) as process:
        yield process


async def _keep_record(url: str) -> None:
    """The record that the seeds ask for, of a scripted answer."""
    async with open_checked_database(url, RECORDS_SCHEMA) as database:
        await record_answers(database, parts(UNSURE_OF_PARIS).loop(), asking("flare"))
        async with database.writing() as connection:
            await connection.execute(sa.update(RECORDS_TABLE).values(id=KEPT_RECORD))


async def _build_indexes(folder: Path) -> None:
    async def passages() -> AsyncIterator[Passage]:
        for passage in islice(passages_of(build_world(2000)), 50):
            yield Passage(passage.id, passage.title, passage.text)

    async with open_retriever(RetrieverSettings(indexes=folder)) as retriever:
        for name in ("lab", KEPT_INDEX):
            await retriever.index_passages(name, passages())


async def _keep_evaluations(url: str) -> None:
    """Those that the seeds ask for by their ids, in the database."""

    async def questions() -> AsyncIterator[EvaluationQuestion]:
        for number in range(3):
            yield EvaluationQuestion(f"q{number}", f"Who is {number}?", ("Ada",))

    request, answerer = EvaluationRequest((PolicyRequest("no_retrieval"),)), SteadyAnswerer()
    opened = open_evaluator(EvaluatorSettings(), answerer, database_url=url, lab_index=str)
    async with opened as evaluator:
        kept = await evaluator.create_evaluation(request, questions())
        async for _ in evaluator.watch_evaluation(kept.id):
            pass
        answerer.answering.clear()
        cancelled = await evaluator.create_evaluation(request, questions())
        await evaluator.cancel_evaluation(cancelled.id)
    async with open_database(url, SCHEMA) as database, database.writing() as connection:
        for made, name in ((kept, KEPT_EVALUATION), (cancelled, CANCELLED_EVALUATION)):
            renamed = sa.update(EVALUATIONS).where(EVALUATIONS.c.id == made.id).values(id=name)
            await connection.execute(renamed)


def test_every_call_of_the_contract_has_seeds() -> None:
    calls = {name: {each.name for each in found.methods} for name, found in SERVICES.items()}
    assert {name: set(seeds) for name, seeds in SEEDS.items()} == calls


@pytest.mark.parametrize("service", list(SERVICES), scope="module")
async def test_a_service_answers_whatever_it_is_sent(running: RunningService, service: str) -> None:
    target, methods = running.target, SERVICES[service].methods
    codes: dict[str, Counter[str]] = {method.name: Counter() for method in methods}
    failures: list[str] = []
    once = ChannelSettings(attempts=1)
    async with open_channel(target, settings=once) as channel:
        for method in methods:
            await _good(channel, method)
        jobs = ((method, number) for number in range(MESSAGES) for method in methods)

        async def work() -> None:
            for method, number in jobs:
                messages = random_messages(method, number)
                code, details = await _called(channel, method, messages, TIMEOUT_S)
                codes[method.name][code.name] += 1
                if code not in ALLOWED:
                    failures.append(_failure(method, number, messages, f"{code}: {details}"))
                if method.name == "IndexPassages" and number % TIDIED_EVERY == TIDIED_EVERY - 1:
                    await _tidy(RemoteRetriever(channel, target))

        async with asyncio.TaskGroup() as workers:
            for _ in range(AT_ONCE):
                workers.create_task(work())
        for method in methods:
            await _good(channel, method)
    print(service, {name: dict(found) for name, found in codes.items()})
    log = running.output_lines()[-100:] if failures else ()
    assert not failures, "\n".join([f"{len(failures)} failed", *failures[:10], *log])
    assert running.process.poll() is None
    assert len(running.output_lines()) == 1, "\n".join(running.output_lines())
    for found in codes.values():
        assert "INVALID_ARGUMENT" in found
        # Of few messages, none may name an index that is there meanwhile.
        assert "OK" in found or MESSAGES < ENOUGH


@pytest.mark.parametrize("service", list(SERVICES), scope="module")
async def test_a_service_stays_responsive_whatever_the_size_of_a_message(
    running: RunningService, service: str
) -> None:
    receive_bytes = max(MIN_RECEIVE_BYTES, ServiceLimits(SERVICES[service]).max_request_bytes)
    messages = [
        message
        for method in SERVICES[service].methods
        for message in large_messages(method, receive_bytes)
    ]
    if SIZES != "all":
        messages = Random(f"{SEED} {service}").sample(messages, min(int(SIZES), len(messages)))
    failures, rows = [], []
    once = ChannelSettings(attempts=1)
    process = ProcessWatch(running.process.pid)
    async with open_channel(running.target, settings=once) as channel:
        with HealthWatch(running.target) as health:
            for method in SERVICES[service].methods:
                await _good(channel, method)
            for message in messages:
                cost = await _cost(channel, message, health, process)
                rows.append(f"{service}\t{message}\t{len(message.data)}\t{cost}")
                if wrong := cost.wrong(message):
                    failures.append(f"{message}, {len(message.data):,} bytes: {wrong}; {cost}")
    _report(rows)
    assert not failures, "\n".join([f"{len(failures)} failed", *failures])
    assert running.process.poll() is None
    assert len(running.output_lines()) == 1, "\n".join(running.output_lines())


@dataclass(frozen=True, slots=True)
class Cost:
    """What a message cost: how it ended, its time in all and of the server's CPU, and what else.

    ``health_s`` is the longest wait of a health check, ``idle_s`` that while nothing was sent.
    """

    code: grpc.StatusCode
    details: str
    seconds: float
    cpu_s: float
    health_s: float
    idle_s: float
    growth_mib: float

    def wrong(self, message: LargeMessage) -> str:
        """What is wrong with it, if anything."""
        if self.code not in ALLOWED:
            return "a status that is none of a request's"
        # What the server does not compute itself, it waits for the machine.
        if min(self.health_s, self.cpu_s) > HEALTH_WITHIN_S + 2 * self.idle_s:
            return "health had to wait"
        if self.growth_mib > MAX_GROWTH_MIB:
            return "memory grew"
        if message.too_large and self.code not in (*REFUSALS, grpc.StatusCode.DEADLINE_EXCEEDED):
            return "not refused"
        if message.too_large and self.cpu_s > MAX_REFUSAL_CPU_S:
            return "its refusal cost too much"
        return ""

    def __str__(self) -> str:
        return (
            f"{self.code.name} in {self.seconds * 1000:.0f} ms, {self.cpu_s * 1000:.0f} ms of CPU, "
            f"health within {self.health_s * 1000:.0f} ms (idle {self.idle_s * 1000:.0f} ms), "
            f"{self.growth_mib:+.0f} MiB: {self.details[:200]}"
        )


def _report(rows: Sequence[str]) -> None:
    if report := os.environ.get("SCAAR_FUZZ_REPORT"):
        with Path(report).open("a") as file:
            file.write("".join(f"{row}\n" for row in rows))


async def _cost(
    channel: grpc.aio.Channel, message: LargeMessage, health: HealthWatch, process: ProcessWatch
) -> Cost:
    """What a message costs, at the best of some tries; those after the first measure idleness."""
    for number in range(TRIES):
        await asyncio.to_thread(health.longest_s)
        idle_s = 0.0
        if number:
            await asyncio.sleep(IDLE_S)
            idle_s = await asyncio.to_thread(health.longest_s)
        process.start()
        began = time.perf_counter()
        code, details = await _called(channel, message.method, [message.data], TIMEOUT_S)
        seconds = time.perf_counter() - began
        health_s = await asyncio.to_thread(health.longest_s)
        used = process.cpu_s(), health_s, idle_s, process.growth_mib()
        cost = Cost(code, details, seconds, *used)
        if not cost.wrong(message):
            break
    return cost


def random_messages(method: MethodDescriptor, number: int) -> Sequence[bytes]:
    """The messages of one call: several of them for a stream."""
    random = Random(f"{SEED} {method.full_name} {number}")
    seeds = SEEDS[method.containing_service.full_name][method.name]
    count = random.choice((0, 1, 1, 1, 1, 1, 1, 2, 3)) if method.client_streaming else 1
    return [mutated(random.choice(seeds), random) for _ in range(count)]


async def _called(
    channel: grpc.aio.Channel,
    method: MethodDescriptor,
    messages: Sequence[bytes],
    timeout_s: float,
) -> tuple[grpc.StatusCode, str]:
    """How a call with these messages ends."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    try:
        if method.client_streaming:
            await channel.stream_unary(path)(iter(messages), timeout=timeout_s)
        elif method.server_streaming:
            async for _ in channel.unary_stream(path)(messages[0], timeout=timeout_s):
                pass
        else:
            await channel.unary_unary(path)(messages[0], timeout=timeout_s)
    except grpc.aio.AioRpcError as error:
        if method.client_streaming and error.details() == LOST_BY_CLIENT:
            return await _called(channel, method, messages, timeout_s)
        return error.code(), error.details() or ""
    return grpc.StatusCode.OK, ""


async def _good(channel: grpc.aio.Channel, method: MethodDescriptor) -> None:
    """Calls with the first seed, which is answered."""
    service = method.containing_service
    calls = [method]
    if service.full_name == RETRIEVER:
        calls.insert(0, service.methods_by_name["IndexPassages"])
    for call in calls:
        good = SEEDS[service.full_name][call.name][0].SerializeToString()
        ended = await _called(channel, call, [good], GOOD_TIMEOUT_S)
        assert ended == (grpc.StatusCode.OK, ""), (call.full_name, ended)


async def _tidy(retriever: RemoteRetriever) -> None:
    """Drops the indexes that messages with other names have made."""
    for index in await retriever.list_indexes():
        if len(index.name) > 1 and index.name not in ("lab", KEPT_INDEX):
            with suppress(NotFound):
                await retriever.drop_index(index.name)


def _failure(method: MethodDescriptor, number: int, messages: Sequence[bytes], ended: str) -> str:
    packed = [base64.b64encode(zlib.compress(message)).decode() for message in messages]
    made = f"message {number} of seed {SEED}, as zlib in base64: {packed}"
    return f"{method.full_name} ended with {ended}\n    {made}"
