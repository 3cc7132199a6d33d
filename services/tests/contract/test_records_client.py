"""The clients of a service of records, over sockets."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from scaar.client import (
    InvalidRequest,
    NotFound,
    PermissionDenied,
    RecordFilter,
    Unauthenticated,
    Verdict,
    WrongState,
    open_records_client,
    open_sync_records_client,
)
from scaar.client.connection import ConnectionOptions
from scaar.core.types import AnswerFinished
from scaar.database.migration import open_checked_database
from scaar.records.service import StoredRecords
from scaar.records.store.schema import SCHEMA
from scaar.testing.answer_records import record_answers
from scaar.testing.commands import run_scaar
from scaar.testing.sockets import serving
from scaar.wire.records import RecordsServicer
from tests.contract.test_records import Installation, all_written, answered, installed
from tests.unit.core.scripted import UNSURE_OF_PARIS, asking, parts

ANSWERS = 5


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[str]:
    url = f"sqlite:///{tmp_path}/records.sqlite"
    async with (
        open_checked_database(url, SCHEMA) as database,
        serving(RecordsServicer(StoredRecords(database))) as (_, target),
    ):
        requests = [asking("flare")] * (ANSWERS - 1)
        loop = parts(UNSURE_OF_PARIS).loop()
        await record_answers(database, loop, *requests, asking("no_retrieval"))
        yield target


async def test_exported_and_deleted_records_are_counted(target: str, tmp_path: Path) -> None:
    def printed(*arguments: str) -> str:
        return run_scaar("records", *arguments, "--address", target).out

    file = str(tmp_path / "records.jsonl")
    exported = await asyncio.to_thread(printed, "export", file, "--policy", "no_retrieval")
    assert exported == f"1 record in {file}\n"
    deleted = await asyncio.to_thread(printed, "delete", "--tenant", "default")
    assert deleted == f"{ANSWERS} records deleted\n"


async def test_a_file_that_cannot_be_written_is_named_by_its_argument(
    target: str, tmp_path: Path
) -> None:
    file = tmp_path / "missing" / "records.jsonl"
    for command in ("export", "questions"):
        arguments = ("records", command, str(file), "--address", target)
        ran = await asyncio.to_thread(run_scaar, *arguments)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith("scaar: FILE: ")


@pytest.mark.parametrize("page_size", [1, 2, ANSWERS, 1000])
async def test_every_page_of_records_is_read(target: str, page_size: int) -> None:
    async with open_records_client(target) as client:
        found = [each async for each in client.summaries(page_size=page_size)]
        assert len({each.id for each in found}) == ANSWERS
        assert [each.created_at for each in found] == sorted(
            (each.created_at for each in found), reverse=True
        )
        flare = RecordFilter(policy="flare", retrieved=True)
        chosen = [each async for each in client.summaries(flare, page_size=page_size)]
        assert chosen == [each for each in found if each.policy == "flare"]
        page = await client.list_records(page_size=page_size)
        assert list(page.records) == found[:page_size]
        assert bool(page.next_page_token) is (page_size < ANSWERS)


async def test_a_record_is_read_judged_again_and_given_a_verdict(target: str) -> None:
    async with open_records_client(target) as client:
        (last,) = [each async for each in client.summaries(RecordFilter(policy="no_retrieval"))]
        name = (await client.list_records(RecordFilter(policy="flare"))).records[0].id
        record = await client.get_record(name)
        assert isinstance(record.events[-1], AnswerFinished)
        assert len(record.events) == len(record.event_ms)
        same = await client.explain_record(name)
        assert (same.first_difference, same.retrievals) == (None, same.recorded_retrievals)
        other = await client.explain_record(name, theta=0.01)
        assert (other.recorded_retrievals, other.retrievals) == (1, 0)
        assert other.policy.theta == 0.01
        named = await client.explain_record(name, policy="flare", trigger="perplexity", theta=9.0)
        assert named.policy.trigger == "perplexity"
        stored = await client.submit_feedback(name, "wrong", "It was Paris.")
        assert stored.feedback is not None
        assert (stored.feedback.verdict, stored.feedback.comment) == (
            Verdict.WRONG,
            "It was Paris.",
        )
        groups = await client.summarize_records(period_s=31_622_400)
        assert {each.policy: (each.answers, each.wrong) for each in groups} == {
            "flare": (ANSWERS - 1, 1),
            "no_retrieval": (1, 0),
        }
        assert await client.delete_records(ids=last.id) == 1
        with pytest.raises(NotFound, match=last.id):
            await client.get_record(last.id)
        assert await client.delete_records(RecordFilter(policy="flare")) == ANSWERS - 1
        assert [each async for each in client.summaries()] == []


async def test_a_thread_does_the_same(target: str) -> None:
    def in_a_thread() -> None:
        with open_sync_records_client(target) as client:
            found = list(client.summaries(page_size=2))
            assert len(found) == ANSWERS
            assert list(client.list_records(page_size=2).records) == found[:2]
            first = next(each for each in found if each.policy == "flare")
            assert client.get_record(first.id).summary == first
            assert client.explain_record(first.id, theta=0.01).retrievals == 0
            client.submit_feedback(first.id, Verdict.PARTIAL)
            assert sum(each.partial for each in client.summarize_records()) == 1
            # A loop that is left early closes its stream of pages.
            for each in client.summaries(page_size=1):
                assert each.id == found[0].id
                break
            assert client.delete_records(ids=[each.id for each in found]) == ANSWERS

    await asyncio.to_thread(in_a_thread)


def options(installation: Installation, token: str) -> ConnectionOptions:
    return {"ca_file": installation.authority.ca, "token": token}


async def test_a_tenant_meets_its_own_records_only(tmp_path: Path) -> None:
    async with installed(tmp_path) as installation:
        for token in ("one", "two"):
            await answered(installation, token)
        async with installation.stored("all") as operator:
            await all_written(operator, 2)
        target = installation.records
        async with (
            open_records_client(target, **options(installation, "one")) as own,
            open_records_client(target, **options(installation, "two")) as other,
            open_records_client(target, **options(installation, "all")) as operator_client,
        ):
            (mine,) = [each async for each in own.summaries()]
            assert mine.tenant == "acme"
            assert [each.tenant async for each in other.summaries()] == ["globex"]
            everyone = {each.tenant async for each in operator_client.summaries()}
            assert everyone == {"acme", "globex"}
            unknown = mine.id[::-1]
            for call in (
                other.get_record,
                other.explain_record,
                lambda name: other.submit_feedback(name, "wrong"),
            ):
                texts = []
                for name in (mine.id, unknown):
                    with pytest.raises(NotFound) as caught:
                        await call(name)
                    texts.append(str(caught.value).replace(name, "ID"))
                assert texts[0] == texts[1]
            with pytest.raises(PermissionDenied):
                await other.list_records(RecordFilter(tenant="acme"))
            with pytest.raises(PermissionDenied):
                await anext(other.summaries(RecordFilter(tenant="acme")))
            assert await other.delete_records(ids=[mine.id]) == 0
            assert (await own.get_record(mine.id)).summary == mine
        async with open_records_client(target, **options(installation, "nobody")) as stranger:
            with pytest.raises(Unauthenticated):
                await stranger.list_records()


@pytest.mark.parametrize(
    ("method", "arguments", "keywords", "text"),
    [
        ("get_record", ("x" * 65,), {}, "id: must have at most 64 characters"),
        ("get_record", ("",), {}, "id: is required"),
        ("get_record", ("\ud800",), {}, "id: holds the control character"),
        ("list_records", (RecordFilter(text="\0x"),), {}, "text: holds the control character"),
        ("list_records", (), {"page_size": 10**400}, "page_size: must fit in 32 bits"),
        ("explain_record", ("x",), {"theta": 10**400}, "theta: must be .*more than 300 digits"),
        ("explain_record", ("x",), {"\ud800": 1}, "is not a setting"),
        ("list_records", (RecordFilter(text="x" * 201),), {}, "text: must have at most 200"),
        ("list_records", (RecordFilter(since="then"),), {}, "since"),
        ("list_records", (RecordFilter(policy=5),), {}, "matching.policy: must be text, not 5"),
        (
            "summarize_records",
            (RecordFilter(retrieved="no"),),
            {},
            "matching.retrieved: must be True or False, not 'no'",
        ),
        (
            "delete_records",
            (RecordFilter(verdict="bad"),),
            {},
            "matching.verdict: must be one of correct, wrong, partial, not 'bad'",
        ),
        ("list_records", ({"policy": "flare"},), {}, "matching: must be of type RecordFilter"),
        ("list_records", (), {"page_size": "5"}, "page_size: must be a whole number, not '5'"),
        ("list_records", (), {"page_size": 0}, "page_size: must be 1 to 1,000, not 0"),
        ("list_records", (), {"page_token": "other"}, "page_token: is not a token"),
        ("delete_records", (), {}, "filter: must be set, or ids"),
        ("delete_records", (), {"ids": ["x"] * 1001}, "ids: must be at most 1,000"),
        ("explain_record", ("x",), {"sigma": 1.0}, "policy.sigma: is not a setting"),
        ("explain_record", ("x",), {"theta": "high"}, "policy.theta: must be a number"),
        ("submit_feedback", ("x", "good"), {}, "must be one of correct, wrong, partial"),
        ("submit_feedback", ("x", "wrong", "x" * 2001), {}, "comment: must have at most 2,000"),
        ("summarize_records", (), {"period_s": 59}, "period_s: must be 60 to"),
    ],
)
async def test_an_invalid_request_names_the_field_and_its_limit(
    target: str, method: str, arguments: tuple[Any, ...], keywords: dict[str, Any], text: str
) -> None:
    async with open_records_client(target) as client:
        with pytest.raises(InvalidRequest, match=text):
            await getattr(client, method)(*arguments, **keywords)


async def test_a_trigger_without_recorded_evidence_is_refused_by_name(target: str) -> None:
    async with open_records_client(target) as client:
        name = (await client.list_records(RecordFilter(policy="flare"))).records[0].id
        with pytest.raises(WrongState, match="contributions"):
            await client.explain_record(name, trigger="surprisal")
