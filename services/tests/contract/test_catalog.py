"""The catalog of an orchestrator, over sockets and embedded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import pytest

from scaar.client import Client, open_client, open_sync_client
from scaar.core.calls.context import CallContext, in_call
from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
)
from scaar.core.gates import gate_without_file
from scaar.core.gates.targ import TargGate
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import Ports
from scaar.core.loop.loop_files import LoopFiles
from scaar.core.policies import PRESETS
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.settings import adjustable
from scaar.core.ports import Catalog
from scaar.core.types import (
    Capability,
    Filter,
    MetadataField,
    Passage,
    PassageRequest,
    PolicyRequest,
    RetrieveRequest,
    RetrieveResult,
    SearchRequest,
    SettingSource,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.channels import open_channel
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import (
    SCRIPTED_MODEL,
    WHITE_BOX_MODEL,
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sentence_filter import OVERLAP_FILTER
from scaar.testing.sockets import TRANSPORTS, retriever_by, serving
from scaar.v1 import orchestrator_pb2, orchestrator_pb2_grpc
from scaar.wire.orchestrator import OrchestratorServicer, RemoteCatalog
from scaar.wire.status import status_of

LANG = (MetadataField("lang", ("en",)),)
GATE = gate_without_file("targ")
assert isinstance(GATE, TargGate)
FILES = LoopFiles(replace(GATE, revision="c0ffee"), replace(OVERLAP_FILTER, digest="facade"))
PASSAGES = (
    Passage("p1", "Ada", "Ada was born in London."),
    Passage("p2", "Byron", "Byron was born in London too."),
)


class RecordingRetriever(InMemoryRetriever):
    """A retriever that records its requests, and raises ``error`` if one is set."""

    def __init__(self) -> None:
        super().__init__({"lab": PASSAGES, "mine": PASSAGES[:1]})
        self.error: Exception | None = None
        self.delay_s = 0.0

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        await asyncio.sleep(self.delay_s)
        if self.error:
            raise self.error
        return await super().retrieve(request)


def ports(retriever: InMemoryRetriever | None = None, **changed: object) -> Ports:
    found = Ports(
        ScriptedGenerator({}),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        retriever or InMemoryRetriever({"lab": PASSAGES}),
    )
    return replace(found, **changed)  # type: ignore[arg-type]


@asynccontextmanager
async def catalog_by(
    transport: str, behind: Ports, files: LoopFiles = FILES
) -> AsyncIterator[Catalog]:
    """The catalog itself, or the catalog behind a socket."""
    catalog = PortsCatalog(behind, version="1.2.3", files=files, default_index="lab")
    if transport == "embedded":
        yield catalog
        return
    servicer = OrchestratorServicer(ScriptedAnswerer(lambda _: ()), catalog)
    async with serving(servicer) as (channel, target):
        yield RemoteCatalog(channel, target)


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


async def test_every_policy_is_listed_with_its_settings_for_the_model(transport: str) -> None:
    async with catalog_by(transport, ports()) as catalog:
        found = {each.name: each for each in await catalog.list_policies()}
    assert list(found) == list(PRESETS)
    for name, each in found.items():
        assert each.policy == effective_policy(PolicyRequest(name), SCRIPTED_MODEL)
        assert set(each.settings) == adjustable(PRESETS[name])
    assert found["scaar"].uses_scorer
    assert not found["flare"].uses_scorer
    assert found["flare"].uses_retriever
    assert not found["no_retrieval"].uses_retriever
    assert ("theta", SettingSource.PAPER) in found["flare"].policy.sources


async def test_a_policy_names_the_capabilities_that_the_model_lacks(transport: str) -> None:
    async with catalog_by(transport, ports()) as catalog:
        found = {each.name: each for each in await catalog.list_policies()}
    assert found["dragin"].missing_capabilities == (Capability.ATTENTION, Capability.ENTROPY)
    assert found["mean_entropy"].missing_capabilities == (Capability.ENTROPY,)
    assert found["flare"].missing_capabilities == ()
    white_box = ports(generator=ScriptedGenerator({}, model=WHITE_BOX_MODEL))
    async with catalog_by(transport, white_box) as catalog:
        found = {each.name: each for each in await catalog.list_policies()}
    assert found.pop("self_rag").missing_capabilities == (Capability.NAMED_TOKENS,)
    assert not any(each.missing_capabilities for each in found.values())


async def test_a_policy_names_the_files_that_the_orchestrator_lacks(transport: str) -> None:
    async with catalog_by(transport, ports(), LoopFiles()) as catalog:
        found = {each.name: each for each in await catalog.list_policies()}
    assert found["filco"].missing_files == ("sentence_filter_file",)
    assert found["quco"].missing_files == ("corpus_counts_file",)
    assert not found["filco"].is_served
    assert (found["flare"].missing_files, found["flare"].is_served) == ((), True)
    async with catalog_by(transport, ports()) as catalog:
        found = {each.name: each for each in await catalog.list_policies()}
    assert found["filco"].missing_files == ()


async def test_the_indexes_are_those_of_the_retriever(transport: str) -> None:
    retriever = InMemoryRetriever({"mine": PASSAGES, "lab": PASSAGES[:1]})
    async with catalog_by(transport, ports(retriever)) as catalog:
        found = await catalog.list_indexes()
    assert found == await retriever.list_indexes()
    assert [each.name for each in found] == ["lab", "mine"]


async def test_a_search_returns_passages_and_the_version_of_the_index(transport: str) -> None:
    retriever = InMemoryRetriever({"lab": PASSAGES, "mine": PASSAGES[:1]})
    async with catalog_by(transport, ports(retriever)) as catalog:
        found = await catalog.search(SearchRequest("Where was Byron born?"))
        assert [each.id for each in found.passages] == ["p2", "p1"]
        assert found.index == "lab"
        assert found.index_version == (await retriever.describe_index("lab")).version
        assert [
            each.id for each in (await catalog.search(SearchRequest("Byron Ada", top_k=1))).passages
        ] == ["p1"]
        mine = await catalog.search(SearchRequest("Byron Ada", index="mine"))
        assert [each.id for each in mine.passages] == ["p1"]
        with pytest.raises(NotFound):
            await catalog.search(SearchRequest("Byron", index="other"))


async def test_a_passage_is_read_from_the_index_or_the_default_one(transport: str) -> None:
    retriever = InMemoryRetriever({"lab": PASSAGES, "mine": PASSAGES[:1]})
    async with catalog_by(transport, ports(retriever)) as catalog:
        found = await catalog.get_passage(PassageRequest("", PASSAGES[1].id))
        assert found == await retriever.get_passage(PassageRequest("lab", PASSAGES[1].id))
        mine = await catalog.get_passage(PassageRequest("mine", PASSAGES[0].id))
        assert (mine.index, mine.passage) == ("mine", PASSAGES[0])
        with pytest.raises(NotFound, match="no passage"):
            await catalog.get_passage(PassageRequest("mine", PASSAGES[1].id))
        with pytest.raises(InvalidRequest, match="id: must have 1 to 512 characters, not 513"):
            await catalog.get_passage(PassageRequest("mine", "x" * 513))


async def test_a_search_is_restricted_to_passages_that_match_the_filters(transport: str) -> None:
    async def passages() -> AsyncIterator[Passage]:
        yield PASSAGES[0]
        yield replace(PASSAGES[1], metadata=LANG)

    retriever = InMemoryRetriever()
    await retriever.index_passages("lab", passages(), metadata_fields=("lang",))
    async with catalog_by(transport, ports(retriever)) as catalog:
        filters = (Filter("lang", ("en", "de")),)
        found = await catalog.search(SearchRequest("born in London", filters=filters))
        assert [(each.id, each.metadata) for each in found.passages] == [("p2", LANG)]


async def test_a_search_leaves_out_excluded_passages(transport: str) -> None:
    retriever = InMemoryRetriever({"lab": PASSAGES})
    async with catalog_by(transport, ports(retriever)) as catalog:
        everything = (await catalog.search(SearchRequest("born in London", top_k=2))).passages
        first, second = (each.id for each in everything)
        request = SearchRequest("born in London", top_k=1, excluded_ids=(first, "nobody"))
        assert [each.id for each in (await catalog.search(request)).passages] == [second]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (SearchRequest(" "), "query"),
        (SearchRequest("a\x00b"), "query"),
        (SearchRequest("x" * 32_769), "query"),
        (SearchRequest("Ada", index="A"), "index"),
        (SearchRequest("Ada", top_k=0), "top_k"),
        (SearchRequest("Ada", top_k=101), "top_k"),
        (SearchRequest("Ada", filters=(Filter("A", ("x",)),)), "filters[0].field"),
        (SearchRequest("Ada", excluded_ids=("",)), "excluded_ids[0]"),
    ],
)
async def test_an_invalid_search_is_refused_by_field(
    transport: str, request_: SearchRequest, field: str
) -> None:
    retriever = RecordingRetriever()
    async with catalog_by(transport, ports(retriever)) as catalog:
        with pytest.raises(InvalidRequest) as caught:
            await catalog.search(request_)
    assert [each.field for each in caught.value.violations] == [field]
    assert not retriever.requests


async def test_the_server_checks_a_search_too() -> None:
    catalog = PortsCatalog(ports(), version="1", default_index="lab")
    servicer = OrchestratorServicer(ScriptedAnswerer(lambda _: ()), catalog)
    async with serving(servicer) as (channel, _):
        stub = orchestrator_pb2_grpc.OrchestratorServiceStub(channel)
        for wrong in (
            orchestrator_pb2.SearchRequest(),
            orchestrator_pb2.SearchRequest(query="Ada", top_k=0),
            orchestrator_pb2.SearchRequest(query="x" * 32_769),
            orchestrator_pb2.SearchRequest(query="Ada", index="x" * 65),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.Search(wrong)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        found = await stub.Search(orchestrator_pb2.SearchRequest(query="Byron"))
        assert [each.id for each in found.passages] == ["p2"]


async def test_the_models_and_the_version_are_described(transport: str) -> None:
    behind = ports()
    async with catalog_by(transport, behind) as catalog:
        found = await catalog.describe()
    assert found.version == "1.2.3"
    assert (found.gate_revision, found.sentence_filter_digest) == ("c0ffee", "facade")
    assert found.model == SCRIPTED_MODEL
    assert found.scorer == await behind.scorer.describe_model()


async def test_a_part_that_is_unavailable_makes_the_call_unavailable(transport: str) -> None:
    gone = BackendUnavailable("the retriever is gone")
    retriever = RecordingRetriever()
    retriever.error = gone
    async with catalog_by(transport, ports(retriever)) as catalog:
        with pytest.raises(BackendUnavailable, match="the retriever is gone"):
            await catalog.search(SearchRequest("Ada"))

    class Gone(ScriptedScorer):
        async def describe_model(self):  # type: ignore[no-untyped-def]
            raise BackendUnavailable("the scorer is gone")

    async with catalog_by(transport, ports(scorer=Gone({}))) as catalog:
        with pytest.raises(BackendUnavailable, match="the scorer is gone"):
            await catalog.describe()
        assert await catalog.list_policies()


async def test_a_part_that_refuses_for_overload_names_when_to_retry() -> None:
    retriever = RecordingRetriever()
    retriever.error = Overloaded("full", retry_after_s=2.5)
    async with catalog_by("grpc", ports(retriever)) as catalog:
        with pytest.raises(Overloaded) as caught:
            await catalog.search(SearchRequest("Ada"))
    assert caught.value.retry_after_s == 2.5


async def test_a_part_that_rejects_the_orchestrator_does_not_blame_the_caller() -> None:
    retriever = RecordingRetriever()
    retriever.error = PermissionDenied("no")
    async with catalog_by("grpc", ports(retriever)) as catalog:
        with pytest.raises(BackendUnavailable, match="rejects the orchestrator's credentials"):
            await catalog.search(SearchRequest("Ada"))


async def test_a_search_ends_with_the_deadline_of_its_caller() -> None:
    retriever = RecordingRetriever()
    retriever.delay_s = 60.0
    catalog = PortsCatalog(ports(retriever), version="1", default_index="lab")
    servicer = OrchestratorServicer(ScriptedAnswerer(lambda _: ()), catalog)
    async with serving(servicer) as (channel, target):
        remote = RemoteCatalog(channel, target, timeout_s=0.3)
        with pytest.raises(DeadlineExceeded):
            await remote.search(SearchRequest("Ada"))


async def test_the_request_id_and_the_deadline_reach_the_retriever() -> None:
    seen: list[tuple[dict[str, object], float]] = []

    class Watching(grpc.aio.ServerInterceptor):
        async def intercept_service(self, continuation, details):  # type: ignore[no-untyped-def]
            handler = await continuation(details)
            behavior = handler.unary_unary

            async def watched(request, context):  # type: ignore[no-untyped-def]
                metadata = dict(context.invocation_metadata())
                seen.append((metadata, context.time_remaining()))
                return await behavior(request, context)

            return grpc.unary_unary_rpc_method_handler(
                watched, handler.request_deserializer, handler.response_serializer
            )

    from scaar.wire.retriever import RemoteRetriever, RetrieverServicer

    fast = ServiceSettings(stop_grace_s=0)
    async with (
        open_server(
            [RetrieverServicer(InMemoryRetriever({"lab": PASSAGES}))],
            "127.0.0.1:0",
            fast,
            status_of=status_of,
            observers=[Watching()],
        ) as server,
        open_channel(server.target) as channel,
        catalog_by("grpc", ports(RemoteRetriever(channel, server.target))) as catalog,  # type: ignore[arg-type]
    ):
        assert isinstance(catalog, RemoteCatalog)
        catalog._timeout_s = 5.0
        with in_call(CallContext(request_id="r-7")):
            found = await catalog.search(SearchRequest("Byron"))
    assert [each.id for each in found.passages] == ["p2"]
    ((metadata, remaining),) = [each for each in seen if "x-request-id" in each[0]]
    assert metadata["x-request-id"] == "r-7"
    assert 0 < remaining < 5.0


async def test_a_full_orchestrator_refuses_a_search_as_any_call() -> None:
    retriever = RecordingRetriever()
    retriever.delay_s = 60.0
    catalog = PortsCatalog(ports(retriever), version="1", default_index="lab")
    servicer = OrchestratorServicer(ScriptedAnswerer(lambda _: ()), catalog)
    one = ServiceSettings(max_concurrent_calls=1, stop_grace_s=0)
    async with serving(servicer, one) as (channel, target):
        remote = RemoteCatalog(channel, target)
        first = asyncio.create_task(remote.search(SearchRequest("Ada")))
        async with asyncio.timeout(10):
            while True:
                try:
                    await RemoteCatalog(channel, target, timeout_s=1.0).list_policies()
                except Overloaded:
                    break
                await asyncio.sleep(0.01)
        first.cancel()


async def test_an_orchestrator_without_a_catalog_reports_it() -> None:
    async with serving(OrchestratorServicer(ScriptedAnswerer(lambda _: ()))) as (channel, target):
        with pytest.raises(CapabilityMissing, match="serves answers only"):
            await RemoteCatalog(channel, target).list_policies()


async def test_a_result_that_no_message_can_carry_is_refused_by_field() -> None:
    large = [Passage(f"p{number}", "", f"Ada {'x' * 1_000_000}") for number in range(18)]
    retriever = InMemoryRetriever({"lab": large})
    async with catalog_by("grpc", ports(retriever)) as catalog:
        with pytest.raises(InvalidRequest, match="top_k: the response has .* request fewer pass"):
            await catalog.search(SearchRequest("Ada", top_k=18))


async def test_both_clients_call_the_catalog() -> None:
    catalog = PortsCatalog(ports(), version="1.2.3", default_index="lab")
    servicer = OrchestratorServicer(ScriptedAnswerer(lambda _: ()), catalog)
    async with serving(servicer) as (_, target):
        async with open_client(target) as client:
            expected = await everything(client)

        def in_a_thread() -> tuple[object, ...]:
            with open_sync_client(target) as client:
                return (
                    client.list_policies(),
                    client.list_indexes(),
                    client.search("Byron", top_k=1),
                    client.get_passage("p1"),
                    client.describe(),
                )

        assert await asyncio.to_thread(in_a_thread) == expected


async def everything(client: Client) -> tuple[object, ...]:
    return (
        await client.list_policies(),
        await client.list_indexes(),
        await client.search("Byron", top_k=1),
        await client.get_passage("p1"),
        await client.describe(),
    )


async def test_a_search_over_a_retriever_behind_a_socket_is_the_same() -> None:
    local = InMemoryRetriever({"lab": PASSAGES})
    async with retriever_by("grpc", local) as remote:
        behind = replace(ports(local), retriever=remote)
        found = await PortsCatalog(behind, version="1", default_index="lab").search(
            SearchRequest("Byron")
        )
    assert found == await PortsCatalog(ports(local), version="1", default_index="lab").search(
        SearchRequest("Byron")
    )
