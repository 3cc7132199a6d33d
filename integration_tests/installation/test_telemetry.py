"""Telemetry of an installation: metrics of every service, and a trace over all of them."""

import asyncio
import secrets

import grpc

from scaar.v1.orchestrator_pb2_grpc import OrchestratorServiceStub

from .access import Access
from .client import PATIENCE_S, answer, request
from .metrics import read, until
from .needs import Need, needs
from .ours.collector import Collector
from .ours.installation import BACK_ENDS, CONSOLE, PARTS, RECORDS, full_name

CALLS = {
    "scaar-orchestrator": "scaar.v1.OrchestratorService/Answer",
    "scaar-generator": "scaar.v1.GeneratorService/Generate",
    "scaar-scorer": "scaar.v1.ScorerService/ScoreContributions",
    "scaar-query-builder": "scaar.v1.QueryBuilderService/BuildQuery",
    "scaar-retriever": "scaar.v1.RetrieverService/Retrieve",
}
"""The calls of an answer that is retrieved for, by who serves them."""


@needs(Need.METRICS)
async def test_an_answer_is_counted_where_it_was_made(
    access: Access, channel: grpc.aio.Channel
) -> None:
    calls = {"service": full_name("orchestrator"), "method": "Answer", "code": "OK"}
    before = await read(access)
    answered = (await answer(channel, request(access, "single_round"))).answer
    after = await until(
        access,
        lambda found: (
            found.total("scaar_rpc_requests_total", **calls)
            > before.total("scaar_rpc_requests_total", **calls)
        ),
    )
    for name in ("scaar_answer_retrievals_sum", "scaar_answer_duration_seconds_count"):
        rose = after.total(name, policy="single_round") - before.total(name, policy="single_round")
        assert rose >= answered.usage.retrievals
    assert after.total("scaar_tokens_total", kind="generated") > before.total(
        "scaar_tokens_total", kind="generated"
    )


@needs(Need.CONTROL)
async def test_every_service_serves_its_metrics(access: Access, channel: grpc.aio.Channel) -> None:
    await answer(channel, request(access))
    found = await read(access)
    of_records = {RECORDS, CONSOLE} if access.records_target else set()
    assert found.services() == {*PARTS, *of_records}
    for service in (*BACK_ENDS, "orchestrator"):
        assert found.total("scaar_rpc_requests_total", service=full_name(service), code="OK")


@needs(Need.CONTROL)
async def test_an_answer_is_one_trace_over_all_services(
    access: Access, channel: grpc.aio.Channel, collector: Collector
) -> None:
    trace = secrets.token_hex(16)
    call = OrchestratorServiceStub(channel).Answer(
        request(access, "scaar"),
        metadata=(("traceparent", f"00-{trace}-{secrets.token_hex(8)}-01"),),
        timeout=PATIENCE_S,
        wait_for_ready=True,
    )
    answered = (await call).answer
    expected = set(CALLS.items())
    assert answered.usage.retrievals
    async with asyncio.timeout(PATIENCE_S):
        while not expected <= collector.spans.get(trace, set()):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    steps = {name for service, name in collector.spans[trace] if service == "scaar-orchestrator"}
    assert {"draft", "judge", "query", "retrieve", "regenerate"} <= steps
