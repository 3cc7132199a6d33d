"""The client of an orchestrator for asyncio."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol, Unpack

from scaar.client.connection import ConnectionOptions, open_connection
from scaar.client.requests import (
    BUDGET,
    INDEX,
    NO_FILTERS,
    TOP_K,
    Filters,
    Messages,
    answer_request,
    choice,
    each_of,
    filter_choices,
    message_choices,
    policy_request,
)
from scaar.client.streams import open_stream
from scaar.core.ports import Answerer, Catalog, DraftJudge
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    DraftJudgement,
    HybridSettings,
    IndexDescription,
    JudgeDraftRequest,
    OnFailure,
    OrchestratorDescription,
    PassageInContext,
    PassageRequest,
    PolicyDescription,
    PolicyRequest,
    RerankSettings,
    Rewrite,
    SearchMode,
    SearchRequest,
    SearchResult,
)
from scaar.core.value_types import check_types
from scaar.wire.orchestrator import SERVICE_NAME, RemoteAnswerer, RemoteCatalog


class AnswerService(Answerer, DraftJudge, Protocol):
    """An answerer that also returns an answer without its events, and judges given drafts."""

    async def answer(self, request: AnswerRequest) -> Answer:
        """Return the answer."""
        ...


class Client:
    """A client of an orchestrator, for asyncio.

    ``policy`` is the name of a published or a tuned policy, or a :class:`PolicyRequest`; by default
    the orchestrator's default policy answers. With ``allow_mismatch``, a tuned policy is also used
    with a model, scorer or kind of index that it was not tuned on. Additional keywords are settings
    of the policy, by the names of :class:`PolicyOverrides` (``theta=0.25``, ``query="pfq"``). The
    time limit of an answer is ``budget.timeout_s``. With ``on_failure="accept_draft"``, a sentence
    whose scorer or retriever fails is kept as drafted, and reports it in ``degraded``. ``filters``
    restrict the passages to those with one of the values in each field, such as
    ``{"tenant": "acme", "lang": ["en", "de"]}``.

    Instead of a question, ``messages`` can be a conversation, such as ``[{"role": "user",
    "content": "..."}]``, whose last message is the question. The model rewrites it as a standalone
    question if messages of the user or the assistant precede it; ``rewrite="never"`` disables that.

    ``answer`` is the form of the answer: ``"short"`` ends with a conclusion, which
    :attr:`Answer.answer` has, and ``"text"`` is the text as the model writes it.

    Requests are checked against the limits of the contract before they are sent. In addition to its
    own errors, each method raises :class:`InvalidRequest` with every invalid field and its limit,
    :class:`Unauthenticated`, :class:`PermissionDenied`, :class:`Overloaded` with the delay
    ``retry_after_s`` in seconds, :class:`DeadlineExceeded` and :class:`BackendUnavailable`.
    :class:`ScaarError` is the base class of all errors, and itself an internal error of a service.
    """

    def __init__(self, answerer: AnswerService, catalog: Catalog) -> None:
        self._answerer = answerer
        self._catalog = catalog

    @asynccontextmanager
    async def stream_answer(
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
    ) -> AsyncIterator[AsyncIterator[AnswerEvent]]:
        """Stream every decision of the answer. The last event is :class:`AnswerFinished`.

        A remote orchestrator sends no :class:`TokenDrafted` if ``omit_drafted_tokens`` is set.
        Leaving the block cancels the call and all work for it, and closes the stream.

        Raises:
            NotFound: the index does not exist, or the caller may not read it.
            CapabilityMissing: the model, the orchestrator or the index lacks what the policy needs.
            PolicyMismatch: the policy was tuned on another model, scorer or kind of index.
            PromptTooLong: the prompt leaves the model no room to write.
            DataCorrupt: the index is damaged.
            StreamIncomplete: the stream of the answer ended before its last event.
        """
        request = answer_request(
            question,
            policy=policy,
            overrides=overrides,
            allow_mismatch=allow_mismatch,
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
        request = replace(request, omit_drafted_tokens=omit_drafted_tokens)
        check_types(request)
        async with open_stream(self._answerer.stream_answer(request)) as events:
            yield events

    async def answer(
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
        """Return the answer, without its events.

        Raises:
            NotFound: the index does not exist, or the caller may not read it.
            CapabilityMissing: the model, the orchestrator or the index lacks what the policy needs.
            PolicyMismatch: the policy was tuned on another model, scorer or kind of index.
            PromptTooLong: the prompt leaves the model no room to write.
            DataCorrupt: the index is damaged.
            StreamIncomplete: the stream of the answer ended before its last event.
        """
        request = answer_request(
            question,
            policy=policy,
            overrides=overrides,
            allow_mismatch=allow_mismatch,
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
        check_types(request)
        return await self._answerer.answer(request)

    async def judge_draft(
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

        Raises:
            NotFound: the index does not exist, or the caller may not read it.
            CapabilityMissing: the model scores no given texts, or lacks what the policy needs.
            PolicyMismatch: the policy was tuned on another model, scorer or kind of index.
        """
        request = JudgeDraftRequest(
            question=question,
            draft=draft,
            accepted=accepted,
            policy=policy_request(policy, overrides, allow_mismatch=allow_mismatch),
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            messages=message_choices(messages),
            rewrite=choice(Rewrite, rewrite, "rewrite"),
        )
        check_types(request)
        return await self._answerer.judge_draft(request)

    async def list_policies(self) -> tuple[PolicyDescription, ...]:
        """Return every policy with its settings for the current model."""
        return await self._catalog.list_policies()

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Return every index, sorted by name, damaged indexes with their ``damage``."""
        return await self._catalog.list_indexes()

    async def get_passage(self, passage_id: str, *, index: str = INDEX) -> PassageInContext:
        """Return a passage of an index by its id, with its neighbours in its document.

        Raises:
            NotFound: the index or the passage does not exist, or the caller may not read it.
            DataCorrupt: the index is damaged.
        """
        request = PassageRequest(index, passage_id)
        check_types(request)
        return await self._catalog.get_passage(request)

    async def search(
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

        Raises:
            NotFound: the index does not exist, or the caller may not read it.
            CapabilityMissing: the index lacks the mode, or the retriever has no cross-encoder.
            DataCorrupt: the index is damaged.
        """
        request = SearchRequest(
            query,
            index,
            top_k,
            filter_choices(filters),
            each_of(excluded_ids),
            mode=choice(SearchMode, mode, "mode"),
            hybrid=hybrid,
            rerank=rerank,
        )
        check_types(request)
        return await self._catalog.search(request)

    async def describe(self) -> OrchestratorDescription:
        """Return the version of the orchestrator and the models that answer."""
        return await self._catalog.describe()


@asynccontextmanager
async def open_client(target: str, **options: Unpack[ConnectionOptions]) -> AsyncIterator[Client]:
    """Open a client of the orchestrator at ``dns:///host:port``. The first call connects it.

    The keywords are those of :class:`ConnectionOptions`. With ``ca_file`` the channel uses TLS,
    with ``cert_file`` and ``key_file`` mutual TLS; files that change are read again before the next
    call.

    Raises:
        InvalidRequest: the target, a file, the metadata, the token or the timeout is invalid.
    """
    async with open_connection(target, SERVICE_NAME, **options) as connection:
        channel, timeout_s = connection.channel, connection.timeout_s
        metadata = connection.metadata
        yield Client(
            RemoteAnswerer(channel, target, timeout_s=timeout_s, metadata=metadata),
            RemoteCatalog(channel, target, timeout_s=min(60.0, timeout_s), metadata=metadata),
        )
