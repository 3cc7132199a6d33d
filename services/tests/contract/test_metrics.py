"""What Prometheus reads of the services of an answer, over real sockets."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from urllib.request import urlopen

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families

from scaar import __version__, compose
from scaar.core.calls.breaker import BreakerLimits
from scaar.core.calls.breakers import Breakers
from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    CapabilityMissing,
    Overloaded,
)
from scaar.core.loop.loop import Ports
from scaar.core.observers import Shed
from scaar.core.types import (
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    GenerateRequest,
    GenerationEvent,
    OnFailure,
    Passage,
    PolicyRequest,
    RetrieveRequest,
    RetrieveResult,
    ScoreRequest,
    Usage,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.health import wait_until_serving
from scaar.runtime.settings import ServiceSettings
from scaar.scorer.cache import open_cached_scorer
from scaar.telemetry.metric_table import METRICS
from scaar.telemetry.setup import open_telemetry
from scaar.testing.fakes import (
    SCRIPTED_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sockets import serving
from scaar.testing.watched_services import WatchedServices, watched_services
from scaar.wire.retriever import RetrieverServicer

QUESTION = "Where was Ada born?"
PASSAGES = (Passage("p1", "Ada", "Ada was born in London."),)
END: Piece = (" So the answer is London.", -1 / 3)
MEASURED = ServiceSettings(metrics_address="127.0.0.1:0", stop_grace_s=0)
Samples = dict[tuple[str, ...], float]


def script(request: GenerateRequest) -> list[Piece]:
    """Unsure of Paris on its own; with the passage, sure of London."""
    if request.prefix:
        return [END]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born", -1 / 7), (" in", -0.2), place, END]


def ports() -> Ports:
    return Ports(
        ScriptedGenerator(script),
        ScriptedScorer({"Ada": 0.3, "Paris.": 2 / 3}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )


async def read(address: str) -> Samples:
    """The samples by name and values of labels, in the order of the labels' names."""
    text = (await asyncio.to_thread(lambda: urlopen(f"http://{address}/metrics").read())).decode()
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def ask(services: WatchedServices, request: AnswerRequest) -> Usage:
    async with aclosing(services.answerer.stream_answer(request)) as events:
        async for event in events:
            if isinstance(event, AnswerFinished):
                return event.answer.usage
    raise AssertionError("it did not finish")


async def test_an_answer_is_counted_by_its_policy_its_retrievals_and_its_tokens() -> None:
    async with watched_services(ports(), MEASURED) as services:
        usage = await ask(services, AnswerRequest(QUESTION, PolicyRequest("scaar")))
        found = await read(services.telemetry["orchestrator"].metrics_address)
    assert found["scaar_answers_total", "answer_phrase", "scaar"] == 1
    assert found["scaar_sentences_judged_total", "scaar"] == 1
    assert found["scaar_triggers_total", "scaar"] == 1
    assert found["scaar_answer_retrievals_sum", "scaar"] == usage.retrievals == 1
    assert found["scaar_answer_retrievals_count", "scaar"] == 1
    assert found["scaar_tokens_total", "generated"] == usage.generated_tokens > 0
    assert found["scaar_tokens_total", "prompt"] == usage.prompt_tokens > 0
    assert found["scaar_answer_duration_seconds_count", "scaar"] == 1
    for first in ("token", "sentence"):
        assert found[f"scaar_answer_first_{first}_seconds_count", "scaar"] == 1
    token, sentence, whole = (
        found[f"scaar_answer_{part}_seconds_sum", "scaar"]
        for part in ("first_token", "first_sentence", "duration")
    )
    assert 0 < token <= sentence <= whole


async def test_admission_has_its_limit_and_rejections_as_metrics() -> None:
    class Refusing(ScriptedGenerator):
        """Refuses its first generation."""

        refused = False

        async def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
            if not self.refused:
                self.refused = True
                raise Overloaded("no place")
            async with aclosing(super().generate(request)) as events:
                async for event in events:
                    yield event

    refusing = Refusing(script, model=replace(SCRIPTED_MODEL, max_concurrent_generations=7))
    async with watched_services(replace(ports(), generator=refusing), MEASURED) as services:
        await ask(services, AnswerRequest(QUESTION, PolicyRequest("scaar")))
        found = await read(services.telemetry["orchestrator"].metrics_address)
    assert found["scaar_answer_limit",] == 7
    assert found["scaar_answers_in_progress",] == found["scaar_answers_queued",] == 0
    assert [found["scaar_answers_shed_total", reason.value] for reason in Shed] == [0, 0, 0]
    assert found["scaar_calls_retried_total",] == 1


async def test_every_service_counts_its_calls_by_method_and_code() -> None:
    async with watched_services(ports(), MEASURED) as services:
        await ask(services, AnswerRequest(QUESTION))
        found = {
            name: await read(each.metrics_address) for name, each in services.telemetry.items()
        }
    for name, service, method in (
        ("orchestrator", "OrchestratorService", "StreamAnswer"),
        ("scorer", "ScorerService", "ScoreContributions"),
        ("query-builder", "QueryBuilderService", "BuildQuery"),
        ("retriever", "RetrieverService", "Retrieve"),
    ):
        full = f"scaar.v1.{service}"
        assert found[name]["scaar_rpc_requests_total", "OK", method, full] == 1
        assert found[name]["scaar_rpc_duration_seconds_count", method, full] == 1
        assert found[name]["scaar_rpc_in_progress", method, full] == 0
        assert found[name]["scaar_service_info", name, __version__] == 1
    generated = "Generate", "scaar.v1.GeneratorService"
    # The draft, which is left when its sentence is looked up for, and the sentence again.
    assert found["generator"]["scaar_rpc_duration_seconds_count", *generated] >= 2


async def test_health_is_not_counted() -> None:
    async with watched_services(ports(), MEASURED) as services:
        await wait_until_serving(services.target, "scaar.v1.OrchestratorService")
        found = await read(services.telemetry["orchestrator"].metrics_address)
    assert not [name for name in found if "grpc.health.v1.Health" in name]


async def test_refused_and_failed_calls_are_counted_by_their_status() -> None:
    lost = ScriptedGenerator(lambda request: [BackendUnavailable("gone", target="tgi:80")])
    failing = Ports(lost, ports().scorer, ports().query_builder, ports().retriever)
    async with watched_services(failing, MEASURED) as services:
        with pytest.raises(BackendUnavailable):
            await ask(services, AnswerRequest(QUESTION))
        # The client of scaar does not send a request that is invalid.
        async with grpc.aio.insecure_channel(services.target.removeprefix("dns:///")) as channel:
            call = channel.unary_stream("/scaar.v1.OrchestratorService/StreamAnswer")(b"")
            assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT
        found = await read(services.telemetry["orchestrator"].metrics_address)
        behind = await read(services.telemetry["generator"].metrics_address)
    stream = "StreamAnswer", "scaar.v1.OrchestratorService"
    assert found["scaar_rpc_requests_total", "UNAVAILABLE", *stream] == 1
    assert found["scaar_rpc_requests_total", "INVALID_ARGUMENT", *stream] == 1
    assert found["scaar_answers_total", "backend_unavailable", "scaar"] == 1
    generate = "Generate", "scaar.v1.GeneratorService"
    assert behind["scaar_rpc_requests_total", "UNAVAILABLE", *generate] == 1


async def test_an_answer_that_its_client_leaves_is_counted_as_cancelled() -> None:
    slow = ScriptedGenerator(script, delay_s=0.05)
    left = Ports(slow, ports().scorer, ports().query_builder, ports().retriever)
    async with watched_services(left, MEASURED) as services:
        async with aclosing(services.answerer.stream_answer(AnswerRequest(QUESTION))) as events:
            async for event in events:
                if not isinstance(event, AnswerStarted):
                    break
        cancelled = "scaar_answers_total", "cancelled", "scaar"
        address = services.telemetry["orchestrator"].metrics_address
        async with asyncio.timeout(10):
            while cancelled not in (found := await read(address)):
                pass
    assert found[cancelled] == 1
    called = "scaar_rpc_requests_total", "CANCELLED", "StreamAnswer"
    assert found[*called, "scaar.v1.OrchestratorService"] == 1


class LostRetriever(InMemoryRetriever):
    """Describes its indexes, and is gone when it is asked for passages."""

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        raise BackendUnavailable("gone", target="opensearch:9200")


async def test_breakers_show_and_so_do_the_calls_that_they_refuse() -> None:
    lost = serving(RetrieverServicer(LostRetriever({"lab": PASSAGES})))
    requested = RetrieveRequest(("Ada",), 1, "lab")
    async with (
        open_telemetry(MEASURED, service="orchestrator") as telemetry,
        lost as (_, target),
    ):
        breakers = Breakers(BreakerLimits(failures=2, open_s=60, max_open_s=60), telemetry.breakers)
        async with compose.open_retriever(target, breakers=breakers) as retriever:
            before = await read(telemetry.metrics_address)
            for _ in range(5):
                with pytest.raises(BackendUnavailable):
                    await retriever.retrieve(requested)
            after = await read(telemetry.metrics_address)
    state = "scaar_breaker_state", "retriever", target
    refusals = "scaar_breaker_refusals_total", "retriever", target
    assert (before[state], before[refusals]) == (0, 0)
    assert (after[state], after[refusals]) == (2, 3)


async def test_a_degraded_sentence_is_counted() -> None:
    own = ports()
    lost = Ports(own.generator, own.scorer, own.query_builder, LostRetriever({"lab": PASSAGES}))
    async with watched_services(lost, MEASURED) as services:
        await ask(services, AnswerRequest(QUESTION, on_failure=OnFailure.ACCEPT_DRAFT))
        found = await read(services.telemetry["orchestrator"].metrics_address)
    assert found["scaar_sentences_degraded_total", "scaar"] == 1


async def test_a_scorers_memory_is_counted() -> None:
    settings = ServiceSettings(metrics_address="127.0.0.1:0")
    request = ScoreRequest(QUESTION, ("Ada", "was"))
    async with (
        open_telemetry(settings, service="scorer") as telemetry,
        open_cached_scorer(
            ScriptedScorer({"Ada": 0.3}), max_entries=4, observer=telemetry.scorer
        ) as scorer,
    ):
        await asyncio.gather(*(scorer.score_contributions([request]) for _ in range(2)))
        await scorer.score_contributions([request, request])
        found = await read(telemetry.metrics_address)
    assert found["scaar_scorer_cache_misses_total",] == 1
    assert found["scaar_scorer_cache_joined_total",] == 1
    assert found["scaar_scorer_cache_hits_total",] == 2


async def test_only_declared_metrics_are_served() -> None:
    async with watched_services(ports(), MEASURED) as services:
        await ask(services, AnswerRequest(QUESTION))
        found = await read(services.telemetry["orchestrator"].metrics_address)
    declared = {name for metric in METRICS for name in metric.series}
    assert {name for name, *_ in found} <= declared


async def test_a_used_address_is_reported() -> None:
    async with open_telemetry(MEASURED, service="scorer") as telemetry:
        taken = ServiceSettings(metrics_address=telemetry.metrics_address)
        with pytest.raises(AlreadyExists, match="metrics_address .* is already in use"):
            async with open_telemetry(taken, service="retriever"):
                pass


async def test_without_the_extra_the_error_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    for name in ("answer_metrics", "metrics", "observer_metrics"):
        monkeypatch.delitem(sys.modules, f"scaar.telemetry.{name}", raising=False)
    message = r"^metrics_address requires prometheus_client: install scaar\[telemetry\]$"
    with pytest.raises(CapabilityMissing, match=message):
        async with open_telemetry(MEASURED, service="scorer"):
            pass
    async with open_telemetry(ServiceSettings(), service="scorer") as telemetry:
        assert not telemetry.interceptors
