"""Records over sockets: what an orchestrator writes, a service of records serves to its tenant."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import grpc
import pytest

from scaar.compose import open_recorder, open_stored_records
from scaar.core.errors import InvalidRequest, NotFound, PermissionDenied, WrongState
from scaar.core.observers import UNOBSERVED_RECORDS
from scaar.core.records import ExplainRecordRequest, RecordContent, RecordFilter, Verdict
from scaar.core.types import AnswerFinished, PolicyOverrides
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.records.settings import RecordsSettings
from scaar.runtime.channel_tls import channel_credentials
from scaar.runtime.channels import open_channel
from scaar.runtime.server import open_server
from scaar.runtime.tls import TlsFiles
from scaar.telemetry.answers import WatchedAnswerer
from scaar.testing.certificates import Authority
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer
from scaar.wire.records import RecordsServicer, RemoteRecords
from scaar.wire.status import status_of
from tests.unit.core.scripted import UNSURE_OF_PARIS, asking, parts

TENANTS = {"one": "acme", "two": "globex", "all": "operations"}
KEY = "a key of digests in a file"


@dataclass
class Installation:
    """An orchestrator and a service of records behind TLS and identities."""

    authority: Authority
    orchestrator: str
    records: str

    @asynccontextmanager
    async def answerer(self, token: str) -> AsyncIterator[RemoteAnswerer]:
        async with open_channel(self.orchestrator, credentials=self._trust()) as channel:
            yield RemoteAnswerer(channel, self.orchestrator, metadata=_metadata(token))

    @asynccontextmanager
    async def stored(self, token: str) -> AsyncIterator[RemoteRecords]:
        async with open_channel(self.records, credentials=self._trust()) as channel:
            yield RemoteRecords(channel, self.records, metadata=_metadata(token))

    def _trust(self) -> grpc.ChannelCredentials:
        credentials = channel_credentials(TlsFiles("", self.authority.ca))
        assert credentials is not None
        return credentials


def _metadata(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


@asynccontextmanager
async def installed(
    tmp_path: Path, content: RecordContent = RecordContent.FULL
) -> AsyncIterator[Installation]:
    authority = Authority(tmp_path / "authority")
    issued, identities = authority.issue(), tmp_path / "identities.yaml"
    lines = (f"  {sha256(each.encode()).hexdigest()}: {name}\n" for each, name in TENANTS.items())
    identities.write_text("tokens:\n" + "".join(lines))
    url, key = f"sqlite:///{tmp_path}/records.sqlite", tmp_path / "key"
    key.write_text(KEY)
    common = {
        "tls_cert_file": issued.cert,
        "tls_key_file": issued.key,
        "identities_file": identities,
        "stop_grace_s": 0.0,
    }
    writing = OrchestratorSettings(
        records_database=url, records_content=content, records_hash_key_file=key, **common
    )
    reading = RecordsSettings(database=url, operator_tenants=("operations",), **common)
    async with (
        open_stored_records(reading) as records,
        open_recorder(writing, UNOBSERVED_RECORDS) as watch,
    ):
        assert watch is not None
        answerer = WatchedAnswerer(parts(UNSURE_OF_PARIS).loop(), [watch])
        async with (
            open_server(
                [OrchestratorServicer(answerer)], "127.0.0.1:0", writing, status_of=status_of
            ) as orchestrator,
            open_server(
                [RecordsServicer(records)], "127.0.0.1:0", reading, status_of=status_of
            ) as served,
        ):
            yield Installation(authority, orchestrator.target, served.target)


async def answered(installation: Installation, token: str, policy: str = "flare") -> None:
    async with installation.answerer(token) as answerer:
        await answerer.answer(asking(policy))


async def all_written(records: RemoteRecords, count: int) -> list[str]:
    """Return the ids of this number of records, once they are written."""
    while len(found := (await records.list_records()).records) < count:
        pass
    return [each.id for each in found]


async def test_a_tenant_reads_judges_and_deletes_its_own_records(tmp_path: Path) -> None:
    async with installed(tmp_path) as installation:
        await answered(installation, "one")
        await answered(installation, "two")
        async with installation.stored("all") as operator:
            await all_written(operator, 2)
        async with installation.stored("one") as own, installation.stored("two") as other:
            (name,) = await all_written(own, 1)
            record = await own.get_record(name)
            assert record.summary.tenant == "acme"
            assert isinstance(record.events[-1], AnswerFinished)
            overrides = PolicyOverrides(theta=0.01)
            judged = await own.explain_record(ExplainRecordRequest(name, overrides=overrides))
            assert (judged.recorded_retrievals, judged.retrievals) == (1, 0)
            trigger, wrong = PolicyOverrides(trigger="surprisal"), PolicyOverrides(theta=7.0)
            with pytest.raises(WrongState, match="contributions"):
                await own.explain_record(ExplainRecordRequest(name, overrides=trigger))
            with pytest.raises(InvalidRequest, match="overrides.theta"):
                await own.explain_record(ExplainRecordRequest(name, overrides=wrong))
            stored = await own.submit_feedback(name, Verdict.CORRECT, "Yes.")
            assert stored.feedback is not None
            (group,) = await own.summarize_records()
            assert (group.tenant, group.answers, group.correct) == ("acme", 1, 1)
            for refused in (
                other.get_record(name),
                other.submit_feedback(name, Verdict.WRONG),
                other.explain_record(ExplainRecordRequest(name)),
            ):
                with pytest.raises(NotFound):
                    await refused
            with pytest.raises(PermissionDenied):
                await other.list_records(RecordFilter(tenant="acme"))
            assert await other.delete_records(ids=[name]) == 0
            assert await own.delete_records(RecordFilter(tenant="acme")) == 1
        async with installation.stored("all") as operator:
            (left,) = (await operator.list_records()).records
            assert left.tenant == "globex"


@pytest.mark.parametrize("content", [RecordContent.NONE, RecordContent.HASHED])
async def test_texts_do_not_reach_the_database_unless_they_may(
    tmp_path: Path, content: RecordContent
) -> None:
    async with installed(tmp_path, content) as installation:
        await answered(installation, "one")
        async with installation.stored("one") as records:
            (name,) = await all_written(records, 1)
            record = await records.get_record(name)
            assert record.summary.content is content
            assert (record.summary.question == "") is (content is RecordContent.NONE)
            judged = await records.explain_record(ExplainRecordRequest(name))
            assert judged.first_difference is None
    for file in tmp_path.glob("records.sqlite*"):
        assert b"London" not in file.read_bytes()
        assert b"Ada" not in file.read_bytes()


async def test_a_client_that_leaves_is_recorded_as_cancelled(tmp_path: Path) -> None:
    async with installed(tmp_path) as installation:
        async with (
            installation.answerer("one") as answerer,
            aclosing(answerer.stream_answer(asking("flare"))) as events,
        ):
            await anext(events)
        async with installation.stored("one") as records:
            await all_written(records, 1)


async def test_settings_of_records_are_checked_before_anything_starts(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/records.sqlite"
    hashed = OrchestratorSettings(records_database=url, records_content=RecordContent.HASHED)
    short = tmp_path / "short"
    short.write_text("short")
    for settings, field in (
        (hashed, "records_hash_key_file"),
        (hashed.model_copy(update={"records_hash_key_file": short}), "records_hash_key_file"),
        (OrchestratorSettings(records_database="mysql://host/name"), "database"),
        (
            OrchestratorSettings(records_content=RecordContent.FULL, records_max_record_kib=64),
            "records_content: requires records_database; records_max_record_kib: requires",
        ),
    ):
        with pytest.raises(InvalidRequest, match=field):
            async with open_recorder(settings, UNOBSERVED_RECORDS):
                pass
    assert not (tmp_path / "records.sqlite").exists()
