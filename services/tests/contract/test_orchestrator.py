from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import grpc
import pytest

from scaar.core.errors import DeadlineExceeded, InvalidRequest, StreamIncomplete
from scaar.core.ports import Answerer
from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    BudgetLimits,
    CandidatesScored,
    ContinuationKind,
    EffectivePolicy,
    FilteredPassage,
    FilteredSentence,
    GateJudged,
    JudgedWord,
    LogprobKind,
    Moment,
    PassagesFiltered,
    PassagesRetrieved,
    Provenance,
    Query,
    QueryBuilt,
    QuerySettings,
    RetrievalDecision,
    RetrievalWeighed,
    RetrievedPassage,
    ScoredCandidate,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    SettingSource,
    Token,
    TokenDrafted,
    TopToken,
    Usage,
)
from scaar.testing.conformance.answerer import AnswererConformance
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.sockets import TRANSPORTS, answerer_by, serving
from scaar.v1 import orchestrator_pb2, orchestrator_pb2_grpc
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer

PROVENANCE = Provenance(
    request_id="made",
    model="lab-lm",
    model_revision="abc",
    engine="onnx",
    scorer="lab-cross-encoder",
    scorer_revision="def",
    index="lab",
    index_version="v1",
    prompt_profile="lab",
    policy=EffectivePolicy(
        name="scaar",
        moments=(Moment.UNCERTAIN_DRAFT,),
        trigger="exp_raw",
        theta=0.1,
        theta_cap=1.0,
        query=QuerySettings("pfq", include_question=True, alpha=1 / 3),
        top_k=3,
        sources=(("theta", SettingSource.MODEL), ("gate_threshold", SettingSource.GATE)),
        gate="gece_proxy",
        gate_threshold=1 / 3,
    ),
    continuation=ContinuationKind.RESTATED,
    logprob_kind=LogprobKind.PROCESSED,
    gate_revision="c0ffee",
    sentence_filter_digest="facade",
)
FIRST = AcceptedSentence(" Ada was born in London 🙂.", ("p1", "p2"))
FILTERED = (
    FilteredPassage("p1", (FilteredSentence("Ada 🙂.", 1 / 3, kept=True),)),
    FilteredPassage("p2", ()),
)
LAST = AcceptedSentence(" So the answer is London.", concluding=True)


def script(request: AnswerRequest) -> list[AnswerEvent]:
    """One event of each kind, with values that float32 or a missing `optional` would change."""
    provenance = replace(PROVENANCE, request_id=request.request_id or "made")
    usage = Usage(1, 3, 17, 230, 12.345678901234567)
    answer = Answer("London", (FIRST, LAST), AnswerEnd.ANSWER_PHRASE, usage, provenance)
    words = (
        JudgedWord("Ada", 0, 3, None, 0.1, uncertain=True),
        JudgedWord("was", 4, 7, 0.0, 0.1, uncertain=True, contribution=0.0),
        JudgedWord("born", 8, 12, 1 / 3, 1.0, uncertain=True, contribution=0.7, capped=True),
    )
    passage = RetrievedPassage("p1", "", "Question: [2]\nSo the answer is no.", 1 / 7, 1)
    return [
        AnswerStarted(provenance),
        TokenDrafted(0, Token(5, " Ada", 0, 4, -1 / 3, 0.0, (TopToken(5, " Ada", -1 / 3),))),
        TokenDrafted(0, Token(6, "", 4, 4)),
        GateJudged("gece_proxy", "flare", 1 / 3, 0.25, {"rarest_frequency": 5e-324, "é": 0.0}),
        GateJudged("p_correct", "flare", 0.6, 0.5, {}, top_k=1),
        SentenceJudged(0, " Ada was born", words, 0, retrieving=True),
        SentenceJudged(0, " Ada was born", (), None, retrieving=False),
        QueryBuilt(0, Query("Where? Ada", "pfq", (0, 2), fell_back=False)),
        PassagesRetrieved(0, "lab", "v1", (passage,)),
        PassagesFiltered(0, FILTERED, 1 / 7, fell_back=False),
        RetrievalWeighed(0, 1 / 3, 0.2, RetrievalDecision.RETRIEVE),
        CandidatesScored(0, (ScoredCandidate("p1", " é", 1 / 3, 0.0, -1 / 7, 0.5, 0.25),), 0),
        SentenceRegenerated(0, " Ada was born", FIRST.text),
        SentenceAccepted(0, FIRST, 0, len(FIRST.text)),
        SentenceAccepted(1, LAST, len(FIRST.text), len(FIRST.text) + len(LAST.text)),
        AnswerFinished(answer),
    ]


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestScriptedAnswerer(AnswererConformance):
    @pytest.fixture
    async def answerer(self, transport: str) -> AsyncIterator[Answerer]:
        async with answerer_by(transport, ScriptedAnswerer(script)) as answerer:
            yield answerer


async def events_of(answerer: Answerer, request: AnswerRequest) -> list[AnswerEvent]:
    async with aclosing(answerer.stream_answer(request)) as events:
        return [event async for event in events]


async def test_every_event_is_the_same_embedded_and_over_grpc() -> None:
    request = AnswerRequest("Where?")
    async with answerer_by("grpc", ScriptedAnswerer(script)) as remote:
        assert await events_of(remote, request) == script(request)


async def test_drafted_tokens_are_not_sent_to_a_caller_without_need_of_them() -> None:
    request = AnswerRequest("Where?", omit_drafted_tokens=True)
    async with answerer_by("grpc", ScriptedAnswerer(script)) as remote:
        found = await events_of(remote, request)
    expected = [event for event in script(request) if not isinstance(event, TokenDrafted)]
    assert found == expected
    assert len(found) < len(script(request))


async def test_an_answer_is_returned_in_one_call() -> None:
    async with serving(OrchestratorServicer(ScriptedAnswerer(script))) as (channel, target):
        answer = await RemoteAnswerer(channel, target).answer(AnswerRequest("Where?"))
    last = script(AnswerRequest("Where?"))[-1]
    assert AnswerFinished(answer) == last


async def test_an_answer_without_its_end_is_incomplete() -> None:
    answerer = ScriptedAnswerer(lambda request: script(request)[:-1])
    async with serving(OrchestratorServicer(answerer)) as (channel, target):
        remote = RemoteAnswerer(channel, target)
        with pytest.raises(StreamIncomplete):
            await remote.answer(AnswerRequest("Where?"))
        with pytest.raises(StreamIncomplete):
            await events_of(remote, AnswerRequest("Where?"))


@pytest.mark.parametrize(
    ("requested", "sent", "message"),
    [("", (), "made"), ("mine-1", (), "mine-1"), ("", (("x-request-id", "m-2"),), "m-2")],
)
async def test_the_request_id_is_in_the_answer_and_the_metadata(
    requested: str, sent: tuple[tuple[str, str], ...], message: str
) -> None:
    async with serving(OrchestratorServicer(ScriptedAnswerer(script))) as (channel, _):
        stub = orchestrator_pb2_grpc.OrchestratorServiceStub(channel)
        request = orchestrator_pb2.AnswerRequest(question="Where?", request_id=requested)
        call = stub.Answer(request, metadata=sent)
        assert (await call).answer.provenance.request_id == message
        assert dict(await call.initial_metadata())["x-request-id"] == message


@pytest.mark.parametrize("request_id", ["two\nlines", "fünf", "x" * 1000])
async def test_a_request_id_that_metadata_cannot_carry_is_refused(
    request_id: str,
) -> None:
    async with answerer_by("grpc", ScriptedAnswerer(script)) as remote:
        with pytest.raises(InvalidRequest) as caught:
            await events_of(remote, AnswerRequest("Where?", request_id=request_id))
    assert [violation.field for violation in caught.value.violations] == ["request_id"]


async def test_the_time_of_an_answer_is_that_of_the_call_where_it_is_sooner() -> None:
    answerer = ScriptedAnswerer(script)
    async with serving(OrchestratorServicer(answerer)) as (channel, target):
        request = AnswerRequest("Where?", budget=BudgetLimits(timeout_s=50.0))
        await events_of(RemoteAnswerer(channel, target), request)
        await events_of(RemoteAnswerer(channel, target, timeout_s=20.0), request)
        stub = orchestrator_pb2_grpc.OrchestratorServiceStub(channel)
        await stub.Answer(orchestrator_pb2.AnswerRequest(question="Where?"))
    times = [request.budget.timeout_s for request in answerer.requests]
    assert times == [50.0, pytest.approx(19.8, abs=0.5), 60.0]


async def test_the_limit_of_an_orchestrator_applies_where_the_request_has_none() -> None:
    times = list[float | None]()
    for limit_s in (7.0, None):
        answerer = ScriptedAnswerer(script)
        servicer = OrchestratorServicer(answerer, answer_timeout_s=limit_s)
        async with serving(servicer) as (channel, target):
            stub = orchestrator_pb2_grpc.OrchestratorServiceStub(channel)
            await stub.Answer(orchestrator_pb2.AnswerRequest(question="Where?"))
            await events_of(
                RemoteAnswerer(channel, target, timeout_s=20.0), AnswerRequest("Where?")
            )
        times += [request.budget.timeout_s for request in answerer.requests]
    assert times == [7.0, 7.0, None, pytest.approx(19.8, abs=0.5)]


async def test_a_call_may_have_more_time_than_an_answer() -> None:
    answerer = ScriptedAnswerer(script)
    async with serving(OrchestratorServicer(answerer, answer_timeout_s=None)) as (channel, target):
        remote = RemoteAnswerer(channel, target, timeout_s=4000.0)
        await events_of(remote, AnswerRequest("Where?"))
    assert answerer.requests[0].budget.timeout_s == 3600.0


async def test_an_answer_that_takes_too_long_ends_with_its_stage() -> None:
    late = DeadlineExceeded("used up while drafting sentence 2", stage="drafting sentence 2")
    answerer = ScriptedAnswerer(lambda request: [*script(request)[:2], late])
    async with answerer_by("grpc", answerer) as remote:
        with pytest.raises(DeadlineExceeded) as caught:
            await events_of(remote, AnswerRequest("Where?"))
    assert caught.value.metadata == {"stage": "drafting sentence 2"}


async def test_an_event_of_a_later_version_is_skipped() -> None:
    class Later(orchestrator_pb2_grpc.OrchestratorServiceServicer):
        service_name = OrchestratorServicer.service_name
        limits = OrchestratorServicer.limits

        def add_to(self, server: grpc.aio.Server) -> None:
            orchestrator_pb2_grpc.add_OrchestratorServiceServicer_to_server(self, server)

        async def Answer(self, request, context):  # type: ignore[no-untyped-def]  # noqa: N802
            return orchestrator_pb2.AnswerResponse()

        async def StreamAnswer(self, request, context):  # type: ignore[no-untyped-def]  # noqa: N802
            yield orchestrator_pb2.StreamAnswerResponse()
            later = orchestrator_pb2.StreamAnswerResponse()
            later.event.finished.answer.end = 99  # type: ignore[assignment]
            yield later

    async with serving(Later()) as (channel, target):
        remote = RemoteAnswerer(channel, target)
        with pytest.raises(Exception, match="does not follow the contract"):
            await events_of(remote, AnswerRequest("Where?"))
        with pytest.raises(Exception, match="does not follow the contract"):
            await remote.answer(AnswerRequest("Where?"))
