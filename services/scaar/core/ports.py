"""The ports: what the loop needs of the world.

Each is implemented by an engine, by a client of a service over gRPC, and by a fake. Every method
may raise any condition of :mod:`scaar.core.errors`. Whoever holds a port opened it in an
``async with`` and closes it; a port itself has no lifecycle.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from typing import Protocol

from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationPage,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    PredictionPage,
    ReportForm,
)
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    AttendRequest,
    Attention,
    DenseSettings,
    GenerateRequest,
    GenerationEvent,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    ModelDescription,
    Passage,
    Query,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
)


class Generator(Protocol):
    """A language model that continues text, token by token."""

    def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """The tokens as they are made, then one :class:`GenerationEnd`.

        An engine that counts the prompt begins with a :class:`GenerationStart`. Closing the
        generator stops the model within one token.
        """
        ...

    async def attend(self, request: AttendRequest) -> Attention:
        """Last-layer attention of a text; :class:`CapabilityMissing` from a black box."""
        ...

    async def describe_model(self) -> ModelDescription: ...


class ContributionScorer(Protocol):
    """A cross-encoder that says how much each word of a sentence contributes to its meaning."""

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        """The contribution r in [0, 1] of every word of every request (SCAAR Eq. 1)."""
        ...

    async def describe_model(self) -> ScorerDescription: ...


class QueryBuilder(Protocol):
    """Turns a judged sentence into a query."""

    async def build_query(self, request: QueryRequest) -> Query: ...


class Retriever(Protocol):
    """Finds passages in named indexes, and keeps the indexes."""

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        """At most ``top_k`` passages a query that fit the filters, best first, ties by passage id.

        Their scores and their order are those of the whole index.

        Raises:
            InvalidRequest: a filter on a field that the index does not declare.
        """
        ...

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        """Builds an index of that name; searches see it only when it is whole.

        Until then they see the one that was there. An upsert is the same, version and scores
        included, as building the index of the passages merged: those replaced stay in their
        places, those added follow. One that changes nothing leaves the index as it is.
        ``metadata_fields`` are those that passages may carry; an upsert keeps the index's. With
        ``dense`` it is searched by the vectors of the retriever's encoder, else by words; an upsert
        keeps to what the index is.

        Raises:
            AlreadyExists: there is an index of that name, and the mode is ``CREATE``.
            InvalidRequest: a passage without id or text, with an id seen before in the stream, or
                with a field that is not declared; an upsert that declares other fields or another
                ``dense``.
            CapabilityMissing: the retriever has no encoder, or another than the index's.
            Overloaded: others kept changing the index while it was upserted.
        """
        ...

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        """How many of the passages were there and are gone."""
        ...

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Every index by name, damaged ones with their ``damage``."""
        ...

    async def describe_index(self, index: str) -> IndexDescription: ...

    async def verify_index(self, index: str) -> IndexVerification:
        """Everything stored of an index, held against what the index says; nothing is changed."""
        ...

    async def drop_index(self, index: str) -> None: ...


class Answerer(Protocol):
    """Answers questions, telling every decision as it is made."""

    def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """The events of the answer; the last one is :class:`AnswerFinished`.

        Closing the generator ends all work for it.
        """
        ...


class Evaluator(Protocol):
    """Holds policies against questions, and keeps what comes of it; a loop is not needed for it."""

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        """The evaluation, queued; the one that is there where its request id was used for it.

        Raises:
            InvalidRequest: naming every wrong field; nothing is kept.
            AlreadyExists: the request id is that of another request, and how that differs.
            Overloaded: the tenant has as many unfinished evaluations as it may have.
        """
        ...

    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription: ...

    async def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        """A page of those in one of the states, of all where none is named; the newest first.

        Raises:
            InvalidRequest: the size is out of its range, or the token is of another query.
        """
        ...

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        """The evaluation, cancelled; its predictions are kept.

        Raises:
            WrongState: it has ended otherwise.
        """
        ...

    def watch_evaluation(self, evaluation_id: str) -> AsyncGenerator[EvaluationProgress, None]:
        """How it gets on, at once and whenever that changes; the last one is of its end."""
        ...

    async def report(self, evaluation_id: str, form: ReportForm) -> str:
        """What the evaluation came to.

        Raises:
            WrongState: it has not succeeded; the metadata say its state and what is done.
        """
        ...

    async def list_predictions(
        self,
        evaluation_id: str,
        *,
        setting: str = "",
        question_id: str = "",
        detailed: bool = False,
        page_size: int | None = None,
        page_token: str = "",
    ) -> PredictionPage:
        """A page of the predictions that are there, of every setting and question if none is named.

        Raises:
            InvalidRequest: there is no such setting or question, the size is out of its range, or
                the token is of another query.
        """
        ...
