"""Telemetry of workers: metrics over HTTP, their log, and traces at a collector."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families

from scaar.core.evaluations import EvaluationState
from scaar.core.loop.loop import Ports
from scaar.core.ports import Answerer, Evaluator
from scaar.core.types import GenerateRequest, Passage, PolicyRequest
from scaar.evaluator.service.setup import EvaluationHooks, open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.settings import ServiceSettings
from scaar.telemetry.setup import open_telemetry
from scaar.testing.collector import attributes, running_collector
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer
from scaar.testing.ports import free_port
from scaar.testing.watched_services import watched_services

from ..servers.postgresql.postgresql_server import PostgresqlServer
from ..servers.server_process import has_ended
from .processes import Worker
from .scene import COUNT, PATIENCE_S, POLICIES, REQUEST, Broker, Scene, questions, until

EVERY = COUNT * len(POLICIES)
WAITING, LEASED = ("scaar_shards", "waiting"), ("scaar_shards", "leased")
Samples = dict[tuple[str, ...], float]


def read(address: str) -> Samples:
    """The samples by name and values of labels, in the order of the labels' names."""
    text = urlopen(f"http://{address}/metrics").read().decode()
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def total(found: Samples, name: str) -> float:
    return sum(value for key, value in found.items() if key[0] == name)


async def test_the_metrics_of_a_workers_processes_are_served_together(scene: Scene) -> None:
    address = f"127.0.0.1:{free_port()}"
    await scene.start_worker(metrics_address=address, attempts=2)
    before = read(address)
    await scene.succeeded(await scene.begin(poison=True))
    await until(lambda: total(read(address), "scaar_shards_ended_total") == 4)
    found = read(address)
    assert before["scaar_shards_leased_total",] == 0
    assert found["scaar_shards_leased_total",] == found["scaar_shard_duration_seconds_count",] == 4
    # The last answer ends the evaluation, which its shard may learn first.
    ends = {key[1] for key in found if key[0] == "scaar_shards_ended_total"}
    assert ends <= {"finished", "dropped"}
    # One question fails under both policies, twice each.
    assert found["scaar_questions_total", "answered"] == EVERY - 2
    assert found["scaar_questions_total", "internal"] == 4
    named = [key for key in found if key[0] == "scaar_service_info"]
    assert [(key[1], found[key]) for key in named] == [("worker", 1.0)]


async def test_counts_of_a_killed_process_still_count(scene: Scene) -> None:
    address = f"127.0.0.1:{free_port()}"
    worker = await scene.start_worker(metrics_address=address, worker_processes=1)
    evaluation = await scene.begin()
    await scene.succeeded(evaluation)
    (child,) = worker.process.children()
    os.kill(child, signal.SIGKILL)
    await until(lambda: has_ended(child) and bool(worker.process.children()))
    again = replace(REQUEST, request_id="two")
    await scene.succeeded(await scene.evaluator.create_evaluation(again, questions()))
    await until(lambda: read(address)["scaar_questions_total", "answered"] == 2 * EVERY)


async def test_the_port_is_free_for_the_next_worker_as_soon_as_one_is_killed(
    scene: Scene,
) -> None:
    address = f"127.0.0.1:{free_port()}"
    killed = await scene.start_worker(metrics_address=address)
    evaluation = await scene.begin_held()
    killed.process.kill()
    await scene.start_worker(metrics_address=address)
    scene.orchestrator.let_go()
    await scene.succeeded(evaluation)
    assert read(address)["scaar_questions_total", "answered"] > 0


@pytest.mark.parametrize("most_calls", [1])
async def test_the_waiting_time_of_questions_for_an_overloaded_orchestrator_is_counted(
    scene: Scene,
) -> None:
    address = f"127.0.0.1:{free_port()}"
    await scene.start_worker(metrics_address=address)
    await scene.succeeded(await scene.begin())
    found = read(address)
    assert found["scaar_questions_waiting_seconds_total", "overloaded"] > 0
    assert found["scaar_questions_total", "answered"] == EVERY


async def test_a_log_record_for_every_shard_has_its_evaluation_and_end(scene: Scene) -> None:
    worker = await scene.start_worker(log_format="json", log_level="info")
    evaluation = await scene.begin()
    await scene.succeeded(evaluation)
    worker.process.stop()
    lines = [json.loads(line) for line in logged(scene).splitlines() if line.startswith("{")]
    logged_lines = [line for line in lines if line["logger"] == "scaar.shards"]
    assert {line["request_id"] for line in logged_lines} == {"one"}
    assert {line["service"] for line in logged_lines} == {"worker"}
    ends = Counter(
        line["message"].partition(": ")[2].split()[0].strip(",") for line in logged_lines
    )
    assert ends.pop("leased") == ends["finished"] + ends["dropped"] == ends.total() == 4
    assert all(f" of evaluation {evaluation.id}: " in line["message"] for line in logged_lines)
    assert not [line for line in lines if line["logger"].startswith("celery")]


async def test_a_stopping_worker_logs_that_it_released_its_shards(
    scene: Scene,
) -> None:
    worker = await scene.start_worker(log_level="info")
    await scene.begin_held()
    # One process may hold both questions before the other one leases its shard.
    await until(lambda: len(scene.asking()) == 2)
    worker.process.stop()
    assert logged(scene).count(": released after ") == 2


def logged(scene: Scene) -> str:
    return (scene.folder / "worker-0" / "worker.log").read_text()


def script(request: GenerateRequest) -> list[Piece]:
    """Unsure of Paris on its own; with the passage, sure of London."""
    end: Piece = (" So the answer is London.", -1 / 3)
    if request.prefix:
        return [end]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born", -1 / 7), (" in", -0.2), place, end]


def ports() -> Ports:
    return Ports(
        ScriptedGenerator(script),
        ScriptedScorer({"Ada": 0.3, "Paris.": 2 / 3}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": (Passage("p1", "Ada", "Ada was born in London."),)}),
    )


async def test_a_question_is_one_trace_from_worker_to_scorer_and_the_evaluator_counts(
    tmp_path: Path, postgresql: PostgresqlServer, broker: Broker, database: str
) -> None:
    request = replace(REQUEST, policies=(PolicyRequest("scaar"),))
    with running_collector() as collector:
        reported = {"otlp_endpoint": collector.endpoint, "stop_grace_s": 0.0}
        async with watched_services(ports(), ServiceSettings.model_validate(reported)) as services:
            shared = {
                "executor": "celery",
                "orchestrator_target": services.target,
                "database": postgresql.url(database),
                "broker": broker.url,
                "shard_predictions": 6,
                "worker_processes": 2,
            }
            worker = Worker(tmp_path, {**shared, **reported})
            async with evaluating(shared, services.answerer) as (evaluator, address):
                created = await evaluator.create_evaluation(request, questions())
                await until_reported(
                    address, {("scaar_evaluations", "running"): 1, WAITING: 2, LEASED: 0}
                )
                # What the evaluator asks to open it is no question of the worker's.
                collector.spans.clear()
                await asyncio.to_thread(worker.start)
                async for each in evaluator.watch_evaluation(created.id):
                    last = each.evaluation
                await until_reported(
                    address, {("scaar_evaluations", "succeeded"): 1, WAITING: 0, LEASED: 0}
                )
            worker.process.stop()
    assert (last.state, last.failed) == (EvaluationState.SUCCEEDED, 0)
    roots = collector.named("question")
    assert len({root.trace_id for root in roots}) == len(roots) == COUNT
    assert {attributes(root)["scaar.end"] for root in roots} == {"answer_phrase"}
    for root in roots:
        spans = [(name, span) for name, span in collector.spans if span.trace_id == root.trace_id]
        by_id = {span.span_id: (name, span) for name, span in spans}
        assert {attributes(span)["scaar.request_id"] for _, span in spans} == {"one"}
        (scoring,) = [span for name, span in spans if name == "scaar-scorer" and is_scoring(span)]
        name, requested = by_id[scoring.parent_span_id]
        assert (name, requested.name) == (
            "scaar-orchestrator",
            "scaar.v1.OrchestratorService/StreamAnswer",
        )
        assert by_id[requested.parent_span_id] == ("scaar-worker", root)
        assert root.parent_span_id == b""


def is_scoring(span: Span) -> bool:
    return span.name.endswith("/ScoreContributions")


@asynccontextmanager
async def evaluating(
    shared: dict[str, object], answerer: Answerer
) -> AsyncIterator[tuple[Evaluator, str]]:
    """An evaluator, and where its metrics are read."""
    settings = EvaluatorSettings.model_validate({**shared, "metrics_address": "127.0.0.1:0"})
    urls = {"database_url": str(shared["database"]), "broker_url": str(shared["broker"])}
    async with open_telemetry(settings, service="evaluator") as telemetry:
        hooks = EvaluationHooks(telemetry.evaluations, telemetry.traced)
        async with open_evaluator(
            settings, answerer, **urls, lab_index=str, hooks=hooks
        ) as evaluator:
            yield evaluator, telemetry.metrics_address


async def until_reported(address: str, expected: Samples) -> None:
    """Returns when the metrics say it."""
    async with asyncio.timeout(PATIENCE_S):
        # The count is refreshed every few seconds.
        while not expected.items() <= (await asyncio.to_thread(read, address)).items():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
