"""The clients of an evaluator, for asyncio and for threads."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, contextmanager
from typing import Any, TypedDict, Unpack

from scaar.client.connection import ConnectionOptions, open_connection
from scaar.client.loop_thread import LoopThread, opened_in_thread
from scaar.client.requests import choice, each_of, policy_request
from scaar.client.streams import open_stream
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationGrid,
    EvaluationPage,
    EvaluationPrediction,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    ReportFormat,
)
from scaar.core.ports import Evaluator
from scaar.core.types import PolicyRequest
from scaar.core.value_types import check_types
from scaar.wire.evaluator import SERVICE_NAME, RemoteEvaluator

Questions = Iterable[EvaluationQuestion] | AsyncIterable[EvaluationQuestion]
Policies = str | Sequence[str | PolicyRequest]


class EvaluationFields(TypedDict, total=False):
    """What an evaluation is of and how it runs, besides its policies; all of it is optional.

    ``dataset`` names a data set of the evaluator, else ``questions`` are sent. ``request_id`` is an
    idempotency key. The others are the fields of :class:`EvaluationRequest` and have its defaults.
    """

    dataset: str
    questions: Questions
    grid: EvaluationGrid
    limit: int | None
    seed: int | None
    indexes: Sequence[str]
    scorers: Sequence[str]
    timeout_s: float
    theta_candidates: int | None
    skip_unserved: bool
    cache_generations: bool
    style: float | None
    tail_share: float | None
    freedom: float | None
    request_id: str


class EvaluationClient:
    """A client of an evaluator, for asyncio.

    Requests are checked against the limits of the contract before they are sent. In addition to its
    own errors, each method raises those of every call of a :class:`Client`. An evaluation of
    another tenant is not found.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    async def create_evaluation(
        self,
        policies: Policies,
        **fields: Unpack[EvaluationFields],
    ) -> EvaluationDescription:
        """Create an evaluation of the policies on a data set of the evaluator, or on questions.

        Returns the queued evaluation, or the existing one with the same ``request_id``. The
        evaluation continues if its client disconnects.

        Raises:
            InvalidRequest: naming every wrong field and its limit.
            AlreadyExists: the ``request_id`` belongs to a different request.
            Overloaded: the tenant has too many unfinished evaluations.
        """
        sent: dict[str, Any] = dict(fields)
        questions = sent.pop("questions", ())
        for name in ("indexes", "scorers"):
            sent[name] = each_of(sent.get(name, ()))
        request = EvaluationRequest(
            policies=tuple(policy_request(policy, {}) for policy in each_of(policies)), **sent
        )
        check_types(request)
        return await self._evaluator.create_evaluation(request, _streamed(questions))

    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        """Return the evaluation and its progress.

        Raises:
            NotFound: there is no such evaluation.
        """
        return await self._evaluator.get_evaluation(evaluation_id)

    async def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        """Return one page of the evaluations in any of the states, newest first. Default: all.

        ``page_size`` is 1 to 1,000, by default 100. ``page_token`` is the ``next_page_token`` of
        the previous page.
        """
        return await self._evaluator.list_evaluations(
            states=states, page_size=page_size, page_token=page_token
        )

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        """Cancel the evaluation. Its predictions are kept.

        Raises:
            NotFound: there is no such evaluation.
            WrongState: the evaluation has succeeded or failed.
        """
        return await self._evaluator.cancel_evaluation(evaluation_id)

    async def resume_evaluation(
        self, evaluation_id: str, *, retry_failed: bool = False
    ) -> EvaluationDescription:
        """Continue an evaluation that failed or was cancelled.

        With ``retry_failed``, failed predictions are made again.

        Raises:
            NotFound: there is no such evaluation.
            Overloaded: the tenant has too many unfinished evaluations.
        """
        return await self._evaluator.resume_evaluation(evaluation_id, retry_failed=retry_failed)

    @asynccontextmanager
    async def watch_evaluation(
        self, evaluation_id: str
    ) -> AsyncIterator[AsyncIterator[EvaluationProgress]]:
        """Stream the progress: the current state first, then every change, to the end.

        Raises:
            NotFound: there is no such evaluation.
        """
        async with open_stream(self._evaluator.watch_evaluation(evaluation_id)) as progress:
            yield progress

    async def report(
        self, evaluation_id: str, report_format: ReportFormat | str = ReportFormat.JSON
    ) -> str:
        """Return the report of an evaluation that has succeeded, as JSON, Markdown or HTML.

        Raises:
            NotFound: there is no such evaluation.
            WrongState: the evaluation has not succeeded.
        """
        return await self._evaluator.report(
            evaluation_id, choice(ReportFormat, report_format, "format")
        )

    async def predictions(
        self,
        evaluation_id: str,
        *,
        setting: str = "",
        question_id: str = "",
        detailed: bool = False,
    ) -> AsyncGenerator[EvaluationPrediction, None]:
        """Yield the stored predictions with their scores, page by page, in the order of the plan.

        With ``detailed``, a prediction has its question and the events of its answer.

        Raises:
            NotFound: there is no such evaluation.
            InvalidRequest: the evaluation has no such setting or question.
        """
        token = ""
        while True:
            page = await self._evaluator.list_predictions(
                evaluation_id,
                setting=setting,
                question_id=question_id,
                detailed=detailed,
                page_token=token,
            )
            for prediction in page.predictions:
                yield prediction
            token = page.next_page_token
            if not token:
                return


class SyncEvaluationClient:
    """A client of an evaluator, for any thread.

    The methods, their arguments and their errors are those of :class:`EvaluationClient`.
    """

    def __init__(self, client: EvaluationClient, thread: LoopThread) -> None:
        self._client = client
        self._thread = thread

    def create_evaluation(
        self,
        policies: Policies,
        **fields: Unpack[EvaluationFields],
    ) -> EvaluationDescription:
        """Create an evaluation, as :meth:`EvaluationClient.create_evaluation`."""
        return self._thread.run(self._client.create_evaluation(policies, **fields))

    def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        """Return the evaluation and its progress."""
        return self._thread.run(self._client.get_evaluation(evaluation_id))

    def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        """Return one page of the evaluations in any of the states, newest first. Default: all."""
        return self._thread.run(
            self._client.list_evaluations(states=states, page_size=page_size, page_token=page_token)
        )

    def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        """Cancel the evaluation. Its predictions are kept."""
        return self._thread.run(self._client.cancel_evaluation(evaluation_id))

    def resume_evaluation(
        self, evaluation_id: str, *, retry_failed: bool = False
    ) -> EvaluationDescription:
        """Continue an evaluation that failed or was cancelled, as :class:`EvaluationClient`."""
        resumed = self._client.resume_evaluation(evaluation_id, retry_failed=retry_failed)
        return self._thread.run(resumed)

    def watch_evaluation(
        self, evaluation_id: str
    ) -> AbstractContextManager[Iterator[EvaluationProgress]]:
        """Stream the progress: the current state first, then every change, to the end."""
        return self._thread.stream(self._client.watch_evaluation(evaluation_id))

    def report(
        self, evaluation_id: str, report_format: ReportFormat | str = ReportFormat.JSON
    ) -> str:
        """Return the report of an evaluation that has succeeded, as JSON, Markdown or HTML."""
        return self._thread.run(self._client.report(evaluation_id, report_format))

    def predictions(
        self,
        evaluation_id: str,
        *,
        setting: str = "",
        question_id: str = "",
        detailed: bool = False,
    ) -> Iterator[EvaluationPrediction]:
        """Yield the stored predictions with their scores, in the order of the plan."""
        with self._thread.stream(
            aclosing(
                self._client.predictions(
                    evaluation_id, setting=setting, question_id=question_id, detailed=detailed
                )
            )
        ) as found:
            yield from found


@asynccontextmanager
async def open_evaluation_client(
    target: str, **options: Unpack[ConnectionOptions]
) -> AsyncIterator[EvaluationClient]:
    """Open a client of the evaluator at ``dns:///host:port``. The first call connects it.

    The keywords are those of :class:`ConnectionOptions`.

    Raises:
        InvalidRequest: the target, a file, the metadata, the token or the timeout is invalid.
    """
    async with open_connection(target, SERVICE_NAME, **options) as connection:
        max_s = connection.timeout_s
        yield EvaluationClient(
            RemoteEvaluator(
                connection.channel,
                target,
                timeout_s=min(60.0, max_s),
                long_timeout_s=min(600.0, max_s),
                watch_timeout_s=max_s,
                metadata=connection.metadata,
            )
        )


@contextmanager
def open_sync_evaluation_client(
    target: str, **options: Unpack[ConnectionOptions]
) -> Iterator[SyncEvaluationClient]:
    """Open a client of the evaluator for callers without an event loop.

    The keywords are those of :class:`ConnectionOptions`. Leaving the block ends the calls of other
    threads with ``RuntimeError``.
    """
    with opened_in_thread(open_evaluation_client(target, **options)) as (client, thread):
        yield SyncEvaluationClient(client, thread)


async def _streamed(questions: Questions) -> AsyncIterator[EvaluationQuestion]:
    if isinstance(questions, AsyncIterable):
        async for question in questions:
            yield question
    else:
        for question in questions:
            yield question
