"""The indexes that a tenant may read, by every call of the orchestrator, on real indexes."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from scaar.core.loop.loop import Ports
from scaar.core.types import GenerateRequest
from scaar.query_builder.local import LocalQueryBuilder
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.access import (
    ABSENT,
    FORBIDDEN,
    RULES,
    build_indexes,
    open_permitted_orchestrator,
    write_identities,
)
from scaar.testing.fakes import Piece, ScriptedGenerator, ScriptedScorer
from scaar.v1 import orchestrator_pb2 as pb
from scaar.v1 import orchestrator_pb2_grpc as pb_grpc
from scaar.v1 import policy_pb2, retriever_pb2

QUESTION = "Is parental leave paid?"
Stub = Any
Filters = dict[str, list[str]]


class Caller:
    """A tenant's calls of an orchestrator; each returns the ids of the passages that it saw."""

    def __init__(self, stub: Stub, token: str) -> None:
        self.stub = stub
        self.metadata = (("authorization", f"Bearer {token}"),)

    async def answer(self, index: str, filters: Filters, policy: str = "single_round") -> list[str]:
        request = pb.AnswerRequest(**_fields(index, filters, policy))
        found = await self.stub.Answer(request, metadata=self.metadata)
        return sorted(each.id for each in found.answer.passages)

    async def stream_answer(
        self, index: str, filters: Filters, policy: str = "single_round"
    ) -> list[str]:
        request = pb.StreamAnswerRequest(**_fields(index, filters, policy))
        seen = []
        async for response in self.stub.StreamAnswer(request, metadata=self.metadata):
            seen += [each.id for each in response.event.passages_retrieved.passages]
        return sorted(seen)

    async def search(self, index: str, filters: Filters, policy: str = "") -> list[str]:
        request = pb.SearchRequest(query=QUESTION, index=index, top_k=10, filters=_filters(filters))
        found = await self.stub.Search(request, metadata=self.metadata)
        return sorted(each.id for each in found.passages)

    async def passage(self, index: str, name: str) -> str:
        request = pb.OrchestratorServiceGetPassageRequest(index=index, id=name)
        found = await self.stub.GetPassage(request, metadata=self.metadata)
        read: str = found.passage.id
        return read

    async def indexes(self) -> list[str]:
        request = pb.OrchestratorServiceListIndexesRequest()
        found = await self.stub.ListIndexes(request, metadata=self.metadata)
        return [each.name for each in found.indexes]


Call = Callable[..., Awaitable[list[str]]]
CALLS: dict[str, Callable[[Caller], Call]] = {
    "Answer": lambda caller: caller.answer,
    "StreamAnswer": lambda caller: caller.stream_answer,
    "Search": lambda caller: caller.search,
}
"""Every call that names an index."""


def _filters(given: Filters) -> list[Any]:
    return [retriever_pb2.Filter(field=name, values=values) for name, values in given.items()]


def _fields(index: str, filters: Filters, policy: str) -> dict[str, Any]:
    return {
        "question": QUESTION,
        "index": index,
        "filters": _filters(filters),
        "policy": policy_pb2.Policy(**{policy: {}}),
    }


def _script(request: GenerateRequest) -> list[Piece]:
    return [(" So the answer is yes.", -0.1)]


@pytest.fixture
def identities(tmp_path: Path) -> Path:
    return write_identities(tmp_path / "identities.yaml")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "indexes"


@pytest.fixture
async def stub(identities: Path, root: Path) -> AsyncIterator[Stub]:
    async with open_retriever(RetrieverSettings(indexes=root)) as engine:
        await build_indexes(engine)
        ports = Ports(ScriptedGenerator(_script), ScriptedScorer({}), LocalQueryBuilder(), engine)
        async with (
            open_permitted_orchestrator(ports, identities) as server,
            grpc.aio.insecure_channel(server.target) as channel,
        ):
            yield pb_grpc.OrchestratorServiceStub(channel)


@pytest.fixture
def acme(stub: Stub) -> Caller:
    return Caller(stub, "token-of-acme")


@pytest.fixture
def operations(stub: Stub) -> Caller:
    return Caller(stub, "token-of-all")


async def status_of_call(call: Awaitable[object]) -> tuple[grpc.StatusCode, str, Any]:
    """Return everything that the client receives of a failed call."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    error = caught.value
    metadata = (*(error.initial_metadata() or ()), *(error.trailing_metadata() or ()))
    return error.code(), error.details() or "", tuple(metadata)


def renamed(status: tuple[grpc.StatusCode, str, Any], name: str) -> object:
    """Return the status with the name replaced by one of the same length."""
    code, details, metadata = status

    def changed(value: str | bytes) -> str | bytes:
        if isinstance(value, bytes):
            return value.replace(name.encode(), b"x" * len(name))
        return value.replace(name, "x" * len(name))

    return code, changed(details), tuple((key, changed(value)) for key, value in metadata)


@pytest.mark.parametrize("method", CALLS)
async def test_a_tenant_reads_its_indexes_and_no_others(
    acme: Caller, operations: Caller, method: str
) -> None:
    call = CALLS[method]
    assert await call(acme)("acme-docs", {}) == ["own"]
    assert await call(operations)(FORBIDDEN, {}) == ["hidden"]
    code, details, _ = await status_of_call(call(acme)(FORBIDDEN, {}))
    assert code is grpc.StatusCode.NOT_FOUND
    assert details == f"no index '{FORBIDDEN}' (the caller may read: acme-docs, shared)"


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    "filters", [{}, {"tenant": ["acme"]}, {"undeclared": ["x"]}, {"Wrong": ["x"]}]
)
async def test_a_forbidden_index_is_not_found_byte_for_byte_like_one_that_never_was(
    acme: Caller, method: str, filters: Filters
) -> None:
    statuses = {
        renamed(await status_of_call(CALLS[method](acme)(name, filters)), name)
        for name in (FORBIDDEN, ABSENT)
    }
    assert len(statuses) == 1


@pytest.mark.parametrize("method", CALLS)
async def test_a_damaged_index_that_is_forbidden_is_not_found(
    acme: Caller, operations: Caller, root: Path, method: str
) -> None:
    before = await status_of_call(CALLS[method](acme)(FORBIDDEN, {}))
    for path in (root / FORBIDDEN).rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    code, _, _ = await status_of_call(CALLS[method](operations)(FORBIDDEN, {}))
    assert code is grpc.StatusCode.DATA_LOSS
    assert await status_of_call(CALLS[method](acme)(FORBIDDEN, {})) == before


@pytest.mark.parametrize("method", CALLS)
async def test_a_permitted_index_that_is_gone_is_not_found_without_the_names_of_others(
    acme: Caller, root: Path, method: str
) -> None:
    shutil.rmtree(root / "acme-docs")
    code, details, _ = await status_of_call(CALLS[method](acme)("acme-docs", {}))
    assert (code, FORBIDDEN in details) == (grpc.StatusCode.NOT_FOUND, False)


@pytest.mark.parametrize("method", CALLS)
async def test_a_tenant_without_a_rule_reads_nothing_not_even_the_default_index(
    stub: Stub, method: str
) -> None:
    globex = Caller(stub, "token-of-globex")
    for index in ("shared", "acme-docs", "lab"):
        code, details, _ = await status_of_call(CALLS[method](globex)(index, {}))
        assert code is grpc.StatusCode.NOT_FOUND
        assert "(the caller may read: none)" in details
    assert await globex.indexes() == []


@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["acme-de-fr", "acme-en"]),
        ({"tenant": ["acme", "globex"], "lang": ["en"]}, ["acme-en"]),
        ({"lang": ["fr"]}, ["acme-de-fr"]),
        ({"tenant": ["globex"]}, []),
    ],
)
async def test_mandatory_filters_apply_together_with_those_of_the_request(
    acme: Caller, method: str, filters: Filters, expected: list[str]
) -> None:
    assert await CALLS[method](acme)("shared", filters) == expected


@pytest.mark.parametrize("method", CALLS)
async def test_the_filters_of_a_request_and_the_mandatory_ones_have_one_limit(
    acme: Caller, stub: Stub, method: str
) -> None:
    filters = [retriever_pb2.Filter(field="lang", values=["fr"])] * 15
    requests = {
        "Answer": pb.AnswerRequest(question=QUESTION, index="shared", filters=filters),
        "StreamAnswer": pb.StreamAnswerRequest(question=QUESTION, index="shared", filters=filters),
        "Search": pb.SearchRequest(query=QUESTION, index="shared", top_k=1, filters=filters),
    }
    call = getattr(stub, method)(requests[method], metadata=acme.metadata)
    if method == "StreamAnswer":
        call = call.read()
    code, details, _ = await status_of_call(call)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "filters: must be at most 16, not 17, with the 2 that the access rules" in details


async def test_a_passage_is_read_only_where_a_search_may_find_it(
    acme: Caller, operations: Caller
) -> None:
    assert await acme.passage("acme-docs", "own") == "own"
    assert await acme.passage("shared", "acme-en") == "acme-en"
    assert await operations.passage(FORBIDDEN, "hidden") == "hidden"
    statuses = {
        renamed(await status_of_call(acme.passage("shared", name)), name)
        for name in ("globex-en", "absent-en")
    }
    assert len(statuses) == 1
    code, details, _ = await status_of_call(acme.passage("shared", "globex-en"))
    assert code is grpc.StatusCode.NOT_FOUND
    assert details == "no passage 'globex-en' in the index 'shared'"
    statuses = {
        renamed(await status_of_call(acme.passage(name, "hidden")), name)
        for name in (FORBIDDEN, ABSENT)
    }
    assert len(statuses) == 1


async def test_lists_contain_the_indexes_of_the_tenant(acme: Caller, operations: Caller) -> None:
    assert await acme.indexes() == ["acme-docs", "shared"]
    assert await operations.indexes() == ["acme-docs", FORBIDDEN, "shared"]


@pytest.mark.parametrize("index", [FORBIDDEN, ABSENT, "acme-docs", "lab"])
async def test_an_answer_without_retrieval_needs_no_index(acme: Caller, index: str) -> None:
    assert await acme.answer(index, {}, "no_retrieval") == []


@pytest.mark.parametrize("index", [FORBIDDEN, ABSENT])
async def test_a_draft_is_not_judged_for_an_index_of_others(
    acme: Caller, stub: Stub, index: str
) -> None:
    request = pb.JudgeDraftRequest(question=QUESTION, draft="Yes.", index=index)
    code, details, _ = await status_of_call(stub.JudgeDraft(request, metadata=acme.metadata))
    assert code is grpc.StatusCode.NOT_FOUND
    assert FORBIDDEN not in details.replace(index, "")


async def test_a_rule_taken_away_and_given_back_applies_to_the_next_call(
    acme: Caller, identities: Path
) -> None:
    assert await acme.search("acme-docs", {}) == ["own"]
    write_identities(identities, tenants={**RULES, "acme": {"indexes": {}}})
    code, _, _ = await status_of_call(acme.search("acme-docs", {}))
    assert code is grpc.StatusCode.NOT_FOUND
    identities.write_text(identities.read_text().replace('{"indexes": {}}', '{"index": {}}'))
    code, _, _ = await status_of_call(acme.search("acme-docs", {}))
    assert code is grpc.StatusCode.NOT_FOUND
    write_identities(identities)
    assert await acme.search("acme-docs", {}) == ["own"]
    write_identities(identities, tenants=None)
    assert await acme.search(FORBIDDEN, {}) == ["hidden"]


@pytest.mark.parametrize("method", CALLS)
async def test_a_rule_by_a_field_that_the_index_lacks_finds_nothing_and_is_reported(
    acme: Caller, identities: Path, method: str
) -> None:
    rule = {"acme": {"indexes": {"acme-docs": {"owner": "acme"}}}}
    write_identities(identities, tenants=rule)
    code, details, _ = await status_of_call(CALLS[method](acme)("acme-docs", {"lang": ["fr"]}))
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert "lacks a metadata field by which the access rules of the caller filter" in details
    code, _, _ = await status_of_call(CALLS[method](acme)("acme-docs", {"undeclared": ["x"]}))
    assert code in (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.INVALID_ARGUMENT)


@pytest.mark.parametrize("policy", ["single_round", "fixed_sentence", "flare"])
async def test_an_answer_that_accepts_drafts_on_failure_reads_nothing_forbidden(
    acme: Caller, identities: Path, stub: Stub, policy: str
) -> None:
    accepting = {"on_failure": pb.ON_FAILURE_ACCEPT_DRAFT}
    request = pb.AnswerRequest(**_fields(FORBIDDEN, {}, policy), **accepting)
    code, _, _ = await status_of_call(stub.Answer(request, metadata=acme.metadata))
    assert code is grpc.StatusCode.NOT_FOUND
    rule = {"acme": {"indexes": {"acme-docs": {"owner": "acme"}}}}
    write_identities(identities, tenants=rule)
    request = pb.AnswerRequest(**_fields("acme-docs", {}, policy), **accepting)
    found = await stub.Answer(request, metadata=acme.metadata)
    assert not found.answer.passages
