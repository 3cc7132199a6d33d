"""The clients of a service of records, for asyncio and for threads."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Unpack

from scaar.client.connection import ConnectionOptions, open_connection
from scaar.client.loop_thread import LoopThread, opened_in_thread
from scaar.client.requests import choice, each_of, policy_request
from scaar.core.pages import MAX_PAGE_SIZE
from scaar.core.ports import Records
from scaar.core.records import (
    EVERY_RECORD,
    AnswerRecord,
    ExplainRecordRequest,
    RecordExplanation,
    RecordFilter,
    RecordGroup,
    RecordPage,
    RecordSummary,
    Verdict,
)
from scaar.core.value_types import check_arguments
from scaar.wire.records import SERVICE_NAME, RemoteRecords


class RecordsClient:
    """A client of a service of records, for asyncio.

    A caller sees the records of its own tenant only; those of other tenants are not found.
    Requests are checked against the limits of the contract before they are sent. In addition to its
    own errors, each method raises those of every call of a :class:`Client`.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    async def get_record(self, record_id: str) -> AnswerRecord:
        """Return a record with its request and its events.

        Raises:
            NotFound: there is no such record, or it belongs to another tenant.
        """
        return await self._records.get_record(record_id)

    async def list_records(
        self,
        matching: RecordFilter = EVERY_RECORD,
        *,
        page_size: int | None = None,
        page_token: str = "",
    ) -> RecordPage:
        """Return one page of the records that match, newest first.

        ``page_size`` is 1 to 1,000, by default 100. ``page_token`` is the ``next_page_token`` of
        the previous page.

        Raises:
            PermissionDenied: the tenant of the filter is not the caller's.
        """
        check_arguments(
            matching=(matching, RecordFilter),
            page_size=(page_size, int | None),
            page_token=(page_token, str),
        )
        return await self._records.list_records(
            matching, page_size=page_size, page_token=page_token
        )

    async def summaries(
        self, matching: RecordFilter = EVERY_RECORD, *, page_size: int = MAX_PAGE_SIZE
    ) -> AsyncGenerator[RecordSummary, None]:
        """Yield the columns of all records that match, newest first, page by page."""
        token = ""
        while True:
            page = await self.list_records(matching, page_size=page_size, page_token=token)
            for summary in page.records:
                yield summary
            token = page.next_page_token
            if not token:
                return

    async def delete_records(
        self, matching: RecordFilter = EVERY_RECORD, *, ids: Sequence[str] = ()
    ) -> int:
        """Delete the records that match, or those with the ids; return their number.

        Raises:
            InvalidRequest: there is no filter and no id, or there are both.
        """
        chosen = each_of(ids)
        check_arguments(matching=(matching, RecordFilter), ids=(chosen, tuple[str, ...]))
        return await self._records.delete_records(matching, ids=chosen)

    async def explain_record(
        self, record_id: str, *, policy: str = "", **overrides: float | str
    ) -> RecordExplanation:
        """Judge the recorded drafts of an answer again under other settings, without a model.

        ``policy`` is the name of a published policy, by default that of the record. Additional
        keywords are settings of the trigger (``theta=0.25``, ``trigger="perplexity"``).

        Raises:
            NotFound: there is no such record, or it belongs to another tenant.
            InvalidRequest: naming every wrong setting and its limit.
            WrongState: the record lacks the evidence that the trigger needs.
        """
        requested = policy_request(policy, overrides)
        request = ExplainRecordRequest(record_id, requested.name, requested.overrides)
        return await self._records.explain_record(request)

    async def summarize_records(
        self, matching: RecordFilter = EVERY_RECORD, *, period_s: int | None = None
    ) -> tuple[RecordGroup, ...]:
        """Return counts and means by period, tenant and policy.

        ``period_s`` is the length of a period in seconds, 60 to 31,622,400, by default a day.

        Raises:
            InvalidRequest: the period is out of range, or gives more than 10,000 groups.
        """
        check_arguments(matching=(matching, RecordFilter), period_s=(period_s, int | None))
        return await self._records.summarize_records(matching, period_s=period_s)

    async def submit_feedback(
        self, record_id: str, verdict: Verdict | str, comment: str = ""
    ) -> RecordSummary:
        """Store a verdict on an answer, by the id of its record or of its request.

        The verdict is ``correct``, ``wrong`` or ``partial``. It replaces an earlier one.

        Raises:
            NotFound: there is no such record, or it belongs to another tenant.
        """
        chosen = choice(Verdict, verdict, "verdict")
        return await self._records.submit_feedback(record_id, chosen, comment)


class SyncRecordsClient:
    """A client of a service of records, for any thread.

    The methods, their arguments and their errors are those of :class:`RecordsClient`.
    """

    def __init__(self, client: RecordsClient, thread: LoopThread) -> None:
        self._client = client
        self._thread = thread

    def get_record(self, record_id: str) -> AnswerRecord:
        """Return a record with its request and its events."""
        return self._thread.run(self._client.get_record(record_id))

    def list_records(
        self,
        matching: RecordFilter = EVERY_RECORD,
        *,
        page_size: int | None = None,
        page_token: str = "",
    ) -> RecordPage:
        """Return one page of the records that match, newest first."""
        return self._thread.run(
            self._client.list_records(matching, page_size=page_size, page_token=page_token)
        )

    def summaries(
        self, matching: RecordFilter = EVERY_RECORD, *, page_size: int = MAX_PAGE_SIZE
    ) -> Iterator[RecordSummary]:
        """Yield the columns of all records that match, newest first, page by page."""
        with self._thread.stream(
            aclosing(self._client.summaries(matching, page_size=page_size))
        ) as found:
            yield from found

    def delete_records(
        self, matching: RecordFilter = EVERY_RECORD, *, ids: Sequence[str] = ()
    ) -> int:
        """Delete the records that match, or those with the ids; return their number."""
        return self._thread.run(self._client.delete_records(matching, ids=ids))

    def explain_record(
        self, record_id: str, *, policy: str = "", **overrides: float | str
    ) -> RecordExplanation:
        """Judge the recorded drafts again, as :meth:`RecordsClient.explain_record`."""
        explained = self._client.explain_record(record_id, policy=policy, **overrides)
        return self._thread.run(explained)

    def summarize_records(
        self, matching: RecordFilter = EVERY_RECORD, *, period_s: int | None = None
    ) -> tuple[RecordGroup, ...]:
        """Return counts and means by period, tenant and policy. Default period: a day."""
        return self._thread.run(self._client.summarize_records(matching, period_s=period_s))

    def submit_feedback(
        self, record_id: str, verdict: Verdict | str, comment: str = ""
    ) -> RecordSummary:
        """Store a verdict on an answer, as :meth:`RecordsClient.submit_feedback`."""
        return self._thread.run(self._client.submit_feedback(record_id, verdict, comment))


@asynccontextmanager
async def open_records_client(
    target: str, **options: Unpack[ConnectionOptions]
) -> AsyncIterator[RecordsClient]:
    """Open a client of the service of records at ``dns:///host:port``. The first call connects it.

    The keywords are those of :class:`ConnectionOptions`.

    Raises:
        InvalidRequest: the target, a file, the metadata, the token or the timeout is invalid.
    """
    async with open_connection(target, SERVICE_NAME, **options) as connection:
        timeout_s = min(60.0, connection.timeout_s)
        metadata = connection.metadata
        yield RecordsClient(
            RemoteRecords(connection.channel, target, timeout_s=timeout_s, metadata=metadata)
        )


@contextmanager
def open_sync_records_client(
    target: str, **options: Unpack[ConnectionOptions]
) -> Iterator[SyncRecordsClient]:
    """Open a client of the service of records for callers without an event loop.

    The keywords are those of :class:`ConnectionOptions`. Leaving the block ends the calls of other
    threads with ``RuntimeError``.
    """
    with opened_in_thread(open_records_client(target, **options)) as (client, thread):
        yield SyncRecordsClient(client, thread)
