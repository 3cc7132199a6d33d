"""The client of an orchestrator for callers without an event loop."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Unpack

from scaar.client.async_client import Client, open_client
from scaar.client.connection import ConnectionOptions
from scaar.client.loop_thread import LoopThread, opened_in_thread
from scaar.client.requests import (
    BUDGET,
    INDEX,
    NO_FILTERS,
    TOP_K,
    Filters,
    Messages,
    policy_request,
)
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerForm,
    BudgetLimits,
    DraftJudgement,
    HybridSettings,
    IndexDescription,
    OnFailure,
    OrchestratorDescription,
    PassageInContext,
    PolicyDescription,
    PolicyRequest,
    RerankSettings,
    Rewrite,
    SearchMode,
    SearchResult,
)


class SyncClient:
    """A client of an orchestrator, for any thread.

    The methods, their arguments and their errors are those of :class:`Client`.
    """

    def __init__(self, client: Client, thread: LoopThread) -> None:
        self._client = client
        self._thread = thread

    def stream_answer(
        self,
        question: str = "",
        *,
        messages: Messages = (),
        rewrite: Rewrite | str = Rewrite.AUTO,
        policy: str | PolicyRequest = "",
        index: str = INDEX,
        budget: BudgetLimits = BUDGET,
        prompt_profile: str = "",
        request_id: str = "",
        on_failure: OnFailure | str = OnFailure.FAIL,
        filters: Filters = NO_FILTERS,
        logprobs: bool = False,
        answer: AnswerForm | str = AnswerForm.SHORT,
        omit_drafted_tokens: bool = False,
        allow_mismatch: bool = False,
        **overrides: float | str,
    ) -> AbstractContextManager[Iterator[AnswerEvent]]:
        """Stream every decision of the answer. The last event is :class:`AnswerFinished`.

        A remote orchestrator sends no :class:`TokenDrafted` if ``omit_drafted_tokens`` is set.
        Leaving the block cancels the call and all work for it, and closes the stream.
        """
        stream = self._client.stream_answer(
            question,
            policy=policy_request(policy, overrides, allow_mismatch=allow_mismatch),
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            on_failure=on_failure,
            filters=filters,
            messages=messages,
            rewrite=rewrite,
            logprobs=logprobs,
            answer=answer,
            omit_drafted_tokens=omit_drafted_tokens,
        )
        return self._thread.stream(stream)

    def answer(
        self,
        question: str = "",
        *,
        messages: Messages = (),
        rewrite: Rewrite | str = Rewrite.AUTO,
        policy: str | PolicyRequest = "",
        index: str = INDEX,
        budget: BudgetLimits = BUDGET,
        prompt_profile: str = "",
        request_id: str = "",
        on_failure: OnFailure | str = OnFailure.FAIL,
        filters: Filters = NO_FILTERS,
        logprobs: bool = False,
        answer: AnswerForm | str = AnswerForm.SHORT,
        allow_mismatch: bool = False,
        **overrides: float | str,
    ) -> Answer:
        """Return the answer, without its events."""
        answering = self._client.answer(
            question,
            policy=policy_request(policy, overrides, allow_mismatch=allow_mismatch),
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            on_failure=on_failure,
            filters=filters,
            messages=messages,
            rewrite=rewrite,
            logprobs=logprobs,
            answer=answer,
        )
        return self._thread.run(answering)

    def judge_draft(
        self,
        question: str = "",
        *,
        draft: str,
        accepted: str = "",
        messages: Messages = (),
        rewrite: Rewrite | str = Rewrite.AUTO,
        policy: str | PolicyRequest = "",
        index: str = INDEX,
        budget: BudgetLimits = BUDGET,
        prompt_profile: str = "",
        request_id: str = "",
        allow_mismatch: bool = False,
        **overrides: float | str,
    ) -> DraftJudgement:
        """Return whether the policy would retrieve for a draft, and for which words.

        ``draft`` has one or more sentences of an answer, ``accepted`` is the text before it, which
        is not judged. The model reads both; nothing is retrieved, and no gate is consulted.
        """
        judgement = self._client.judge_draft(
            question,
            draft=draft,
            accepted=accepted,
            policy=policy_request(policy, overrides, allow_mismatch=allow_mismatch),
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            messages=messages,
            rewrite=rewrite,
        )
        return self._thread.run(judgement)

    def list_policies(self) -> tuple[PolicyDescription, ...]:
        """Return every policy with its settings for the current model."""
        return self._thread.run(self._client.list_policies())

    def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Return every index, sorted by name, damaged indexes with their ``damage``."""
        return self._thread.run(self._client.list_indexes())

    def get_passage(self, passage_id: str, *, index: str = INDEX) -> PassageInContext:
        """Return a passage of an index by its id, with its neighbours in its document."""
        return self._thread.run(self._client.get_passage(passage_id, index=index))

    def search(
        self,
        query: str,
        *,
        index: str = INDEX,
        top_k: int = TOP_K,
        filters: Filters = NO_FILTERS,
        excluded_ids: Sequence[str] = (),
        mode: SearchMode | str = SearchMode.INDEX,
        hybrid: HybridSettings | None = None,
        rerank: RerankSettings | None = None,
    ) -> SearchResult:
        """Return at most ``top_k`` passages for a query, best first, without an answer.

        Passages of the ``excluded_ids`` are not returned. ``mode`` is how the index is searched,
        ``hybrid`` the settings of a hybrid search, None for the defaults, and ``rerank`` those of
        reranking, None for none.
        """
        return self._thread.run(
            self._client.search(
                query,
                index=index,
                top_k=top_k,
                filters=filters,
                excluded_ids=excluded_ids,
                mode=mode,
                hybrid=hybrid,
                rerank=rerank,
            )
        )

    def describe(self) -> OrchestratorDescription:
        """Return the version of the orchestrator and the models that answer."""
        return self._thread.run(self._client.describe())


@contextmanager
def open_sync_client(target: str, **options: Unpack[ConnectionOptions]) -> Iterator[SyncClient]:
    """Open a client of the orchestrator for callers without an event loop.

    The arguments are those of :func:`open_client`. Leaving the block ends the calls of other
    threads with ``RuntimeError``.
    """
    with open_in_thread(open_client(target, **options)) as client:
        yield client


@contextmanager
def open_in_thread(opening: AbstractAsyncContextManager[Client]) -> Iterator[SyncClient]:
    """Open a client on the event loop of a new thread, for callers in other threads."""
    with opened_in_thread(opening) as (client, thread):
        yield SyncClient(client, thread)
