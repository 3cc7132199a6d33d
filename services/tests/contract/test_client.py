import asyncio
import copy
import pickle
import re
import signal
import threading
import traceback
import typing
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any

import grpc
import pytest

from scaar import client
from scaar.client import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerRecord,
    AnswerStarted,
    BackendUnavailable,
    BudgetLimits,
    Client,
    DeadlineExceeded,
    InvalidRequest,
    Message,
    NotFound,
    Overloaded,
    PolicyOverrides,
    PolicyRequest,
    RecordExplanation,
    RecordFilter,
    RecordGroup,
    RecordPage,
    SentenceAccepted,
    SentenceRegenerated,
    SyncClient,
    TokenDrafted,
    accepted_text,
    open_client,
    open_sync_client,
)
from scaar.client.loop_thread import LoopThread, opened_in_thread
from scaar.core import errors
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    AcceptedSentence,
    AnswerEnd,
    AnswerRequest,
    EffectivePolicy,
    Filter,
    Moment,
    Passage,
    Provenance,
    QuerySettings,
    Token,
    Usage,
)
from scaar.database.migration import open_checked_database
from scaar.evaluator.service.setup import open_evaluator
from scaar.evaluator.settings import EvaluatorSettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.records.service import StoredRecords
from scaar.records.store.schema import SCHEMA
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.answer_records import record_answers
from scaar.testing.certificates import Authority
from scaar.testing.fakes import (
    SAMPLED_MODEL,
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sockets import serving
from scaar.wire.evaluator import EvaluatorServicer
from scaar.wire.generator import GeneratorServicer
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.records import RecordsServicer
from scaar.wire.status import status_of
from tests.unit.core import scripted

DOCS = Path(__file__).parents[3] / "docs" / "clients.md"
POLICY = EffectivePolicy(
    "scaar", (Moment.UNCERTAIN_DRAFT,), 0.25, 1.0, QuerySettings("pfq", True), 3, "flare"
)
PROVENANCE = Provenance("made", "lm", "1", "fake", "", "", "lab", "", "lab", POLICY)
SENTENCE = AcceptedSentence("So the answer is London.", concluding=True)


def script(request: AnswerRequest) -> list[AnswerEvent]:
    provenance = replace(PROVENANCE, request_id=request.request_id or "made")
    usage = Usage(0, 1, 2, 3, 4.0)
    answer = Answer("London", (SENTENCE,), AnswerEnd.ANSWER_PHRASE, usage, provenance)
    return [
        AnswerStarted(provenance),
        TokenDrafted(0, Token(1, "So", 0, 2, -0.1)),
        SentenceAccepted(0, SENTENCE, 0, len(SENTENCE.text)),
        AnswerFinished(answer),
    ]


def endless(request: AnswerRequest) -> Iterable[AnswerEvent]:
    started, drafted, *_ = script(request)
    yield started
    while True:
        yield drafted


class Servicer(OrchestratorServicer):
    """Keeps the metadata of the calls."""

    def __init__(self, answerer: ScriptedAnswerer) -> None:
        super().__init__(answerer)
        self.metadata: list[dict[str, str | bytes]] = []

    def _events(self, message: Any, context: Any) -> Any:
        self.metadata.append(dict(context.invocation_metadata()))
        return super()._events(message, context)


@asynccontextmanager
async def asking(answerer: ScriptedAnswerer) -> AsyncIterator[Client]:
    async with serving(OrchestratorServicer(answerer)) as (_, target), open_client(target) as scaar:
        yield scaar


async def opened(answerer: ScriptedAnswerer, calls: int) -> None:
    async with asyncio.timeout(10):
        while answerer.opened < calls:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def closed(answerer: ScriptedAnswerer) -> None:
    async with asyncio.timeout(10):
        while answerer.closed < max(answerer.opened, 1):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_an_answer_is_streamed_or_returned_in_one_call() -> None:
    expected = script(AnswerRequest("Where?"))
    async with asking(ScriptedAnswerer(script)) as scaar:
        async with scaar.stream_answer("Where?") as events:
            assert [event async for event in events] == expected
        assert AnswerFinished(await scaar.answer("Where?")) == expected[-1]


async def test_every_field_of_a_request_arrives() -> None:
    answerer = ScriptedAnswerer(script)
    budget = BudgetLimits(max_retrievals=2, timeout_s=9.0)
    policy = PolicyRequest("scaar", PolicyOverrides(theta=0.5, top_k=2))
    async with asking(answerer) as scaar:
        await scaar.answer(
            "Where?",
            policy="flare",
            index="mine",
            budget=budget,
            prompt_profile="lab",
            request_id="r-1",
            theta=0.25,
            query="pfq",
        )
        await scaar.answer("Where?", policy=policy, theta=1, trigger="flare")
        await scaar.answer("Where?")
        await scaar.answer("Where?", filters={"tenant": "acme", "lang": ["en", "de"]})
        await scaar.answer("Where?", policy="flare", allow_mismatch=True)
    flare = PolicyRequest("flare", PolicyOverrides(theta=0.25, query="pfq"))
    changed = PolicyOverrides(theta=1.0, top_k=2, trigger="flare")
    assert answerer.requests[0] == AnswerRequest("Where?", flare, "mine", budget, "lab", "r-1")
    assert answerer.requests[1].policy == PolicyRequest("scaar", changed)
    # The orchestrator limits the time of an answer whose request does not.
    limited = AnswerRequest("Where?", budget=BudgetLimits(timeout_s=60.0))
    assert replace(answerer.requests[2], request_id="") == limited
    assert answerer.requests[3].filters == (
        Filter("tenant", ("acme",)),
        Filter("lang", ("en", "de")),
    )
    assert answerer.requests[4].policy == PolicyRequest("flare", allow_mismatch=True)


async def test_leaving_the_block_ends_the_work() -> None:
    answerer = ScriptedAnswerer(endless, delay_s=0.01)
    async with asking(answerer) as scaar:
        async with scaar.stream_answer("Where?") as events:
            async for event in events:
                if isinstance(event, TokenDrafted):
                    break
        await closed(answerer)


async def test_closing_an_answer_ends_its_work() -> None:
    answerer = ScriptedAnswerer(endless, delay_s=0.01)
    async with asking(answerer) as scaar:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(scaar.answer("Where?"), 0.3)
        await closed(answerer)


async def test_no_call_exceeds_the_timeout_of_the_client() -> None:
    answerer = ScriptedAnswerer(endless, delay_s=0.01)
    async with (
        serving(OrchestratorServicer(answerer)) as (_, target),
        open_client(target, timeout_s=0.5) as scaar,
    ):
        with pytest.raises(DeadlineExceeded):
            await scaar.answer("Where?")
        async with scaar.stream_answer("Where?") as events:
            with pytest.raises(DeadlineExceeded):
                assert not [event async for event in events]
        await closed(answerer)
    assert all(request.budget.timeout_s < 0.5 for request in answerer.requests)


async def test_errors_have_their_details() -> None:
    answerer = ScriptedAnswerer(lambda _: [Overloaded("full", retry_after_s=2.5)])
    async with asking(answerer) as scaar:
        with pytest.raises(Overloaded, match="full") as overloaded:
            await scaar.answer("Where?")
        with pytest.raises(InvalidRequest) as invalid:
            await scaar.answer(" ", policy="scaar", theta=1.5)
    assert overloaded.value.retry_after_s == 2.5
    assert [each.field for each in invalid.value.violations] == ["question", "policy.theta"]


async def test_settings_that_cannot_be_sent_are_named() -> None:
    async with open_client("dns:///127.0.0.1:1") as scaar:
        with pytest.raises(InvalidRequest) as caught:
            await scaar.answer("Where?", thta=0.25, query=3, top_k=1.5, theta="high")
    assert [each.field for each in caught.value.violations] == [
        "policy.thta",
        "policy.query",
        "policy.top_k",
        "policy.theta",
    ]
    assert "known settings: alpha" in str(caught.value)


async def test_metadata_are_sent_with_every_call() -> None:
    servicer = Servicer(ScriptedAnswerer(script))
    sent: dict[str, str | bytes] = {"Authorization": "Bearer abc", "trace-bin": b"\x00\xff"}
    async with (
        serving(servicer) as (_, target),
        open_client(target, metadata=sent) as scaar,
    ):
        await scaar.answer("Where?", request_id="r-1")
        async with scaar.stream_answer("Where?") as events:
            assert [event async for event in events]
    assert len(servicer.metadata) == 2
    for metadata in servicer.metadata:
        assert metadata["authorization"] == "Bearer abc"
        assert metadata["trace-bin"] == b"\x00\xff"
    assert servicer.metadata[0]["x-request-id"] == "r-1"


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"metadata": {"a b": "c"}}, "metadata.a b"),
        ({"metadata": {"grpc-timeout": "1S"}}, "metadata.grpc-timeout"),
        ({"metadata": {"name": "fünf"}}, "metadata.name"),
        ({"metadata": {"name": b"bytes"}}, "metadata.name"),
        ({"metadata": {"name-bin": "text"}}, "metadata.name-bin"),
        ({"metadata": {"name": 5}}, "metadata.name"),
        ({"metadata": {5: "text"}}, "metadata"),
        ({"metadata": [("name", "text")]}, "metadata"),
        ({"token": b"secret"}, "token"),
        ({"ca_file": 5}, "ca_file"),
        ({"cert_file": "a\0b"}, "cert_file"),
        ({"timeout_s": "5"}, "timeout_s"),
        ({"timeout_s": None}, "timeout_s"),
        ({"timeout_s": 0.0}, "timeout_s"),
        ({"timeout_s": float("nan")}, "timeout_s"),
        ({"timeout_s": float("inf")}, "timeout_s"),
    ],
)
async def test_unusable_credentials_are_rejected_on_opening(
    settings: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        async with open_client("dns:///127.0.0.1:1", **settings):
            pass
    assert [each.field for each in caught.value.violations] == [field]
    with pytest.raises(InvalidRequest), open_sync_client("dns:///127.0.0.1:1", **settings):
        pass


@pytest.mark.parametrize("target", ["", "http://127.0.0.1:50051", "localhost", "dns:///localhost"])
async def test_an_invalid_target_gets_an_error_that_says_what_to_write(
    target: str,
) -> None:
    with pytest.raises(InvalidRequest, match="^target: .*write .*:"):
        async with open_client(target):
            pass


async def test_a_target_that_is_no_text_is_rejected() -> None:
    with pytest.raises(InvalidRequest, match="^target: must be text, not None"):
        async with open_client(None):  # type: ignore[arg-type]
            pass


async def test_the_address_of_another_service_gets_an_error_that_names_the_service() -> None:
    generator = GeneratorServicer(ScriptedGenerator({}))
    async with serving(generator) as (_, target), open_client(target) as scaar:
        with pytest.raises(BackendUnavailable) as caught:
            await scaar.answer("Where?")
    assert caught.value.message == (
        f"{target} does not serve scaar.v1.OrchestratorService, or the service is not ready: "
        "check that the target is the address of that service"
    )


@pytest.mark.parametrize(
    ("request_", "message_text"),
    [
        (
            {"question": "x" * 10_000_000},
            "question: must have at most 131,072 characters, not 10,000,000",
        ),
        ({"index": "x" * 65}, "index: must be 1 to 64 of a-z"),
        ({"prompt_profile": "x" * 257}, "prompt_profile: must have at most 256 characters"),
        ({"request_id": "x" * 129}, "request_id: must be at most 128 printable ASCII"),
        ({"policy": "scaar", "theta": 1.5}, "policy.theta: must be in"),
        ({"budget": BudgetLimits(max_tokens=0)}, "budget.max_tokens: must be 1 to 8192, not 0"),
        ({"filters": {"A": "x"}}, r"filters\[0\].field: must be a letter"),
    ],
)
async def test_a_request_over_a_limit_is_refused_before_it_is_sent(
    request_: dict[str, Any], message_text: str
) -> None:
    async with open_client("dns:///127.0.0.1:1") as scaar:
        with pytest.raises(InvalidRequest, match=f"^{message_text}"):
            await scaar.answer(**{"question": "Where?", **request_})
        async with scaar.stream_answer(**{"question": "Where?", **request_}) as events:
            with pytest.raises(InvalidRequest, match=f"^{message_text}"):
                await anext(events)


@pytest.mark.parametrize(
    ("given", "message_text"),
    [
        ({"question": None}, "question: must be text, not None"),
        ({"question": b"Where?"}, "question: must be text"),
        ({"policy": None}, "policy: must be of type PolicyRequest, not None"),
        ({"policy": PolicyRequest("flare", PolicyOverrides(theta="0.3"))}, "policy.overrides.the"),  # type: ignore[arg-type]
        ({"allow_mismatch": "no"}, "policy.allow_mismatch: must be True or False, not 'no'"),
        ({"index": None}, "index: must be text, not None"),
        ({"budget": {"max_tokens": 3}}, "budget: must be of type BudgetLimits, not {'max_tok"),
        ({"budget": BudgetLimits(max_tokens=3.5)}, "budget.max_tokens: must be a whole"),  # type: ignore[arg-type]
        ({"filters": None}, "filters: must map fields to their accepted values, not be None"),
        ({"filters": {"year": [1994]}}, r"filters\[0\].values\[0\]: must be text, not 1994"),
        ({"filters": {"year": None}}, r"filters\[0\].values\[0\]: must be text, not None"),
        ({"messages": None}, "messages: must be a list of messages, not None"),
        ({"messages": {"role": "user", "content": "Where?"}}, "messages: must be a list of messa"),
        ({"messages": [Message("user", None)]}, r"messages\[0\].content: must be text"),  # type: ignore[arg-type]
        ({"logprobs": "yes"}, "logprobs: must be True or False, not 'yes'"),
    ],
)
async def test_a_value_of_another_type_is_refused_by_the_name_of_its_field(
    given: dict[str, Any], message_text: str
) -> None:
    async with open_client("dns:///127.0.0.1:1") as scaar:
        with pytest.raises(InvalidRequest, match=f"^{message_text}"):
            await scaar.answer(**{"question": "Where?", **given})
        with pytest.raises(InvalidRequest, match=f"^{message_text}"):
            async with scaar.stream_answer(**{"question": "Where?", **given}):
                pass


@pytest.mark.parametrize(
    ("given", "message_text"),
    [
        ({"query": None}, "query: must be text, not None"),
        ({"top_k": 3.0}, "top_k: must be a whole number, not 3.0"),
        ({"top_k": True}, "top_k: must be a whole number, not True"),
        ({"excluded_ids": None}, r"excluded_ids\[0\]: must be text, not None"),
        ({"hybrid": {"words_weight": 2.0}}, "hybrid: must be of type HybridSettings, not"),
        ({"rerank": True}, "rerank: must be of type RerankSettings, not True"),
    ],
)
async def test_a_search_of_another_type_is_refused_by_the_name_of_its_field(
    given: dict[str, Any], message_text: str
) -> None:
    async with open_client("dns:///127.0.0.1:1") as scaar:
        with pytest.raises(InvalidRequest, match=f"^{message_text}"):
            await scaar.search(**{"query": "Where?", **given})


@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize(
    "error",
    [
        InvalidRequest.of("question", "must not be empty", detail="in line 3"),
        NotFound("no index 'wiki'", index="wiki"),
        Overloaded("16 answers are queued", retry_after_s=2.5),
        BackendUnavailable("the retriever does not answer", retry_after_s=None),
    ],
)
def test_errors_can_be_copied_and_pickled(
    error: client.ScaarError, copied: Callable[[client.ScaarError], client.ScaarError]
) -> None:
    found = copied(error)
    assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))


def test_errors_print_under_the_name_that_a_product_imports() -> None:
    error = client.InvalidRequest.of("question", "must not be empty")
    shown = traceback.format_exception_only(error)
    assert shown == ["scaar.client.InvalidRequest: question: must not be empty\n"]
    for name in client.__all__:
        found = getattr(client, name)
        if isinstance(found, type) and issubclass(found, client.ScaarError):
            assert f"{found.__module__}.{found.__qualname__}" == f"scaar.client.{name}"


async def test_accepted_text_leaves_out_drafts_that_are_replaced() -> None:
    first, last = AcceptedSentence("Ada was born in London."), AcceptedSentence(" So: London.")
    usage = Usage(1, 2, 3, 4, 5.0)
    answer = Answer("London", (first, last), AnswerEnd.ANSWER_PHRASE, usage, PROVENANCE)
    events: list[AnswerEvent] = [
        AnswerStarted(PROVENANCE),
        TokenDrafted(0, Token(1, "Ada was born in Paris.", 0, 22, -0.1)),
        SentenceRegenerated(0, "Ada was born in Paris.", first.text),
        SentenceAccepted(0, first, 0, len(first.text)),
        TokenDrafted(1, Token(1, last.text, 0, 12, -0.1)),
        SentenceAccepted(1, last, len(first.text), len(answer.text)),
        AnswerFinished(answer),
    ]
    assert list(accepted_text(events)) == [first.text, last.text]
    async with (
        asking(ScriptedAnswerer(lambda _: events)) as scaar,
        scaar.stream_answer("Where?") as streamed,
    ):
        found = [text async for text in accepted_text(streamed)]
    assert "".join(found) == answer.text


async def test_a_call_of_an_unavailable_orchestrator_is_retried_once() -> None:
    def waking(request: AnswerRequest) -> list[AnswerEvent | Exception]:
        if len(answerer.requests) == 1:
            return [BackendUnavailable("not yet")]
        return [*script(request)]

    answerer = ScriptedAnswerer(waking)
    async with asking(answerer) as scaar:
        assert (await scaar.answer("Where?")).answer == "London"
    assert answerer.opened == 2

    gone = ScriptedAnswerer(lambda _: [BackendUnavailable("gone")])
    async with asking(gone) as scaar:
        with pytest.raises(BackendUnavailable, match="gone"):
            await scaar.answer("Where?")
    assert gone.opened == 2


async def test_a_target_that_cannot_be_reached_is_named() -> None:
    target = "dns:///127.0.0.1:1"
    async with open_client(target) as scaar:
        with pytest.raises(BackendUnavailable, match=re.escape(target)):
            await scaar.answer("Where?")


async def test_credentials_secure_the_channel(tmp_path: Path) -> None:
    """gRPC sends a token over secure channels only; those of one machine need no certificate."""
    servicer = Servicer(ScriptedAnswerer(script))
    server = grpc.aio.server()
    servicer.add_to(server)
    target = f"unix:{tmp_path}/socket"
    server.add_secure_port(target, grpc.local_server_credentials(grpc.LocalConnectionType.UDS))
    await server.start()
    credentials = grpc.composite_channel_credentials(
        grpc.local_channel_credentials(grpc.LocalConnectionType.UDS),
        grpc.access_token_call_credentials("abc"),
    )
    try:
        async with open_client(target, credentials=credentials) as scaar:
            assert (await scaar.answer("Where?")).answer == "London"
    finally:
        await server.stop(None)
    assert servicer.metadata[0]["authorization"] == "Bearer abc"


async def test_files_and_a_token_secure_the_channel(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    served, shown = authority.issue(), authority.issue("client.test")
    settings = ServiceSettings(
        tls_cert_file=served.cert,
        tls_key_file=served.key,
        tls_client_ca_file=authority.ca,
        stop_grace_s=0.0,
    )
    given: dict[str, Any] = {"ca_file": authority.ca, "token": "abc"}
    given |= {"cert_file": str(shown.cert), "key_file": str(shown.key)}
    servicer = Servicer(ScriptedAnswerer(script))
    async with open_server([servicer], "127.0.0.1:0", settings, status_of=status_of) as server:
        async with open_client(server.target, **given) as scaar:
            assert (await scaar.answer("Where?")).answer == "London"
        assert await asyncio.to_thread(answered_in_a_thread, server.target, given) == "London"
    assert [each["authorization"] for each in servicer.metadata] == ["Bearer abc"] * 2


def answered_in_a_thread(target: str, given: dict[str, Any]) -> str:
    with open_sync_client(target, **given) as scaar:
        return scaar.answer("Where?").answer


@pytest.mark.parametrize(
    ("given", "message_text"),
    [
        ({"token": "abc"}, "token: requires TLS"),
        ({"ca_file": "/no/where.pem"}, "ca_file: /no/where.pem cannot be read"),
        ({"cert_file": "/no/where.pem"}, "key_file: must be set together with cert_file"),
        ({"credentials": grpc.ssl_channel_credentials(), "token": "a b"}, "token: must be a bear"),
        (
            {"credentials": grpc.ssl_channel_credentials(), "ca_file": "ca.pem"},
            "credentials: cannot be combined",
        ),
    ],
)
async def test_invalid_channel_credentials_are_rejected(
    given: dict[str, Any], message_text: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"^{message_text}"):
        async with open_client("dns:///127.0.0.1:1", **given):
            pass
    with pytest.raises(InvalidRequest, match=f"^{message_text}"), open_sync_client("x:1", **given):
        pass


# --- synchronous --------------------------------------------------------------------------------


def stream(scaar: SyncClient, question: str) -> list[AnswerEvent]:
    with scaar.stream_answer(question, policy="flare", theta=0.25) as events:
        return list(events)


async def test_the_synchronous_client_serves_two_threads() -> None:
    answerer = ScriptedAnswerer(script, delay_s=0.02)
    meeting = threading.Barrier(2, timeout=10)

    def ask(scaar: SyncClient, question: str) -> tuple[list[AnswerEvent], Answer]:
        meeting.wait()
        return stream(scaar, question), scaar.answer(question, request_id=question)

    def both(target: str) -> list[tuple[list[AnswerEvent], Answer]]:
        with open_sync_client(target) as scaar, ThreadPoolExecutor(2) as threads:
            return list(threads.map(lambda question: ask(scaar, question), ("q-1", "q-2")))

    async with serving(OrchestratorServicer(answerer)) as (_, target):
        found = await asyncio.to_thread(both, target)
    for question, (events, answer) in zip(("q-1", "q-2"), found, strict=True):
        assert events == script(AnswerRequest(question))
        assert answer.provenance.request_id == question
    requested = {(each.question, each.policy.name) for each in answerer.requests}
    assert requested == {(q, name) for q in ("q-1", "q-2") for name in ("flare", "")}


async def test_leaving_the_synchronous_block_ends_the_work() -> None:
    answerer = ScriptedAnswerer(endless, delay_s=0.01)
    left = asyncio.Event()
    loop = asyncio.get_running_loop()
    done = threading.Event()

    def leave(target: str) -> None:
        with open_sync_client(target) as scaar:
            with scaar.stream_answer("Where?") as events:
                assert isinstance(next(events), AnswerStarted)
                assert isinstance(next(events), TokenDrafted)
            with pytest.raises(RuntimeError, match="the stream is closed"):
                next(events)
            loop.call_soon_threadsafe(left.set)
            assert done.wait(10)

    async with serving(OrchestratorServicer(answerer)) as (_, target):
        leaving = asyncio.create_task(asyncio.to_thread(leave, target))
        await left.wait()
        await closed(answerer)
        done.set()
        await leaving


async def test_closing_the_synchronous_client_ends_the_calls_of_other_threads() -> None:
    answerer = ScriptedAnswerer(endless, delay_s=0.01)

    def close(target: str) -> None:
        has_started = threading.Event()

        def wait(scaar: SyncClient) -> None:
            with scaar.stream_answer("Where?") as events:
                for _ in events:
                    has_started.set()

        with ThreadPoolExecutor(1) as threads:
            with open_sync_client(target) as scaar:
                waiting = threads.submit(wait, scaar)
                assert has_started.wait(10)
            with pytest.raises(RuntimeError, match="the client is closed"):
                waiting.result(10)
        with pytest.raises(RuntimeError, match="the client is closed"):
            scaar.answer("Where?")

    async with serving(OrchestratorServicer(answerer)) as (_, target):
        await asyncio.to_thread(close, target)
        await closed(answerer)


async def test_a_call_of_a_closed_client_says_that_it_is_closed() -> None:
    async with asking(ScriptedAnswerer(script)) as scaar:
        await scaar.answer("Where?")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the client is closed"):
            await scaar.answer("Where?")
        with pytest.raises(RuntimeError, match="the client is closed"):
            async with scaar.stream_answer("Where?") as events:
                await anext(events)
    with pytest.raises(RuntimeError, match="the client is closed"):
        await scaar.list_indexes()


async def test_a_call_in_progress_when_the_client_closes_says_that_it_is_closed() -> None:
    answerer = ScriptedAnswerer(endless, delay_s=0.01)

    async def stream(scaar: Client) -> None:
        async with scaar.stream_answer("Where?") as events:
            async for _ in events:
                pass

    async with serving(OrchestratorServicer(answerer)) as (_, target):
        async with open_client(target) as scaar:
            calls = [asyncio.create_task(each) for each in (scaar.answer("Where?"), stream(scaar))]
            await opened(answerer, len(calls))
        for call in calls:
            with pytest.raises(RuntimeError, match="the client is closed"):
                await call
        await closed(answerer)


async def test_a_cancelled_call_of_a_client_that_closes_is_cancelled() -> None:
    answerer = ScriptedAnswerer(endless, delay_s=0.01)
    async with asking(answerer) as scaar:
        call = asyncio.create_task(scaar.answer("Where?"))
        await opened(answerer, 1)
        call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_stream_is_not_iterated_after_its_block() -> None:
    async with asking(ScriptedAnswerer(script)) as scaar:
        async with scaar.stream_answer("Where?") as events:
            await anext(events)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="the stream is closed"):
                _ = [each async for each in events]


async def test_a_synchronous_stream_is_not_iterated_after_its_block() -> None:
    def ask(target: str) -> None:
        with open_sync_client(target) as scaar:
            with scaar.stream_answer("Where?") as events:
                next(events)
            for _ in range(2):
                with pytest.raises(RuntimeError, match="the stream is closed"):
                    list(events)
            with scaar.stream_answer("Where?") as whole:
                assert len(list(whole)) == len(script(AnswerRequest("Where?")))
                assert list(whole) == []
            with pytest.raises(RuntimeError, match="the stream is closed"):
                list(whole)
        with pytest.raises(RuntimeError, match="the client is closed"):
            list(events)

    async with serving(OrchestratorServicer(ScriptedAnswerer(script))) as (_, target):
        await asyncio.to_thread(ask, target)


def test_the_synchronous_client_leaves_no_thread_and_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = set(threading.enumerate())
    for _ in range(20):
        with open_sync_client("dns:///127.0.0.1:1"):
            pass
    assert set(threading.enumerate()) <= before
    assert not [record for record in caplog.records if record.name == "asyncio"]


def test_an_opening_that_is_interrupted_closes_what_it_has_opened() -> None:
    closed, main = [], threading.get_ident()

    @asynccontextmanager
    async def opening() -> AsyncIterator[None]:
        try:
            signal.pthread_kill(main, signal.SIGINT)
            await asyncio.sleep(60)
            yield
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    with pytest.raises(KeyboardInterrupt), opened_in_thread(opening()):
        pass
    assert closed == [True]


def test_a_stream_that_is_interrupted_when_its_step_begins_is_left() -> None:
    closed, main = [], threading.get_ident()

    async def interrupting() -> AsyncIterator[int]:
        signal.pthread_kill(main, signal.SIGINT)
        await asyncio.sleep(60)
        yield 1

    @asynccontextmanager
    async def opening() -> AsyncIterator[AsyncIterator[int]]:
        yield interrupting()
        closed.append(True)

    for _ in range(100):
        with (
            LoopThread() as thread,
            pytest.raises(KeyboardInterrupt),
            thread.stream(opening()) as values,
        ):
            next(values)
    assert len(closed) == 100


async def test_errors_are_the_same_synchronously() -> None:
    answerer = ScriptedAnswerer(lambda _: [NotFound("there is no index 'x'", index="x")])

    def ask(target: str) -> None:
        with open_sync_client(target) as scaar:
            with pytest.raises(NotFound) as caught:
                stream(scaar, "Where?")
            assert caught.value.metadata == {"index": "x"}
            with pytest.raises(NotFound):
                scaar.answer("Where?")

    async with serving(OrchestratorServicer(answerer)) as (_, target):
        await asyncio.to_thread(ask, target)


# --- what is public -----------------------------------------------------------------------------


def test_everything_public_is_named() -> None:
    public = {
        name
        for name, value in vars(client).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert sorted(client.__all__) == client.__all__
    assert set(client.__all__) == public


RECORD_VALUES = (AnswerRecord, RecordPage, RecordExplanation, RecordGroup, RecordFilter)


def test_every_value_and_error_that_a_caller_meets_is_public() -> None:
    values = {
        kind.__name__
        for hint in (AnswerEvent, PolicyRequest, BudgetLimits, *RECORD_VALUES)
        for kind in met(hint)
    }
    conditions = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.ScaarError)
    }
    assert values | conditions <= set(client.__all__)


def met(hint: Any) -> set[type]:
    """The project's own types that a value of the hint can hold."""
    if arguments := typing.get_args(hint):
        return set().union(*(met(each) for each in arguments))
    if not isinstance(hint, type) or hint is NoneType or not hint.__module__.startswith("scaar."):
        return set()
    inner = typing.get_type_hints(hint) if is_dataclass(hint) else {}
    return {hint}.union(*(met(inner[each.name]) for each in fields(hint)) if inner else ())


# --- the page -----------------------------------------------------------------------------------

# The example of langchain-scaar needs its packages; integration_tests/langchain has one like it.
EXAMPLES = [
    example
    for example in re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    if "langchain_scaar" not in example
]
ORCHESTRATOR, EVALUATOR = "dns:///127.0.0.1:50051", "dns:///127.0.0.1:50056"
RECORDS = "dns:///127.0.0.1:50057"


def test_the_page_has_an_example_of_each_client() -> None:
    assert ["open_client" in example for example in EXAMPLES].count(True) == 1
    assert ["open_sync_client" in example for example in EXAMPLES].count(True) == 4
    assert ["open_sync_evaluation_client" in example for example in EXAMPLES].count(True) == 1
    assert ["open_sync_records_client" in example for example in EXAMPLES].count(True) == 1


@pytest.mark.parametrize("example", EXAMPLES)
async def test_the_examples_of_the_page_run(
    example: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answerer = ScriptedAnswerer(script)
    passages = [Passage("p1", "Ada", "Ada was born in London.")]
    ports = Ports(
        ScriptedGenerator({}, model=SAMPLED_MODEL),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": passages}),
    )
    hosted = open_evaluator(
        EvaluatorSettings(),
        answerer,
        database_url=f"sqlite:///{tmp_path}/evaluations.sqlite",
        lab_index=str,
    )
    catalog = PortsCatalog(ports, version="1", default_index="lab")
    async with (
        serving(
            OrchestratorServicer(answerer, catalog, judge=AdaptiveLoop(ports, default_index="lab"))
        ) as (_, target),
        hosted as evaluator,
        serving(EvaluatorServicer(evaluator)) as (_, evaluator_target),
        open_checked_database(f"sqlite:///{tmp_path}/records.sqlite", SCHEMA) as database,
        serving(RecordsServicer(StoredRecords(database))) as (_, records_target),
    ):
        loop = scripted.parts(scripted.UNSURE_OF_PARIS).loop()
        await record_answers(database, loop, scripted.asking("flare"))
        changed = example.replace(ORCHESTRATOR, target).replace(EVALUATOR, evaluator_target)
        changed = changed.replace(RECORDS, records_target)
        assert changed != example
        code = compile(changed, str(DOCS), "exec")
        await asyncio.to_thread(exec, code, {"__name__": "__main__"})
    assert "London" in capsys.readouterr().out
    if "TokenDrafted" in example or "stream_answer" in example:
        assert {each.policy.name or "scaar" for each in answerer.requests} == {"scaar", "flare"}
