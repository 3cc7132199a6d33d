"""The ports: the interfaces between the loop and its engines.

Each port is implemented by an engine, by a client of a service over gRPC, and by a fake. Every
method can raise any error of :mod:`scaar.core.errors`. The caller opens an implementation in an
``async with``, which also closes it; a port itself has no lifecycle.
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
    ReportFormat,
)
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
from scaar.core.types import (
    AnswerEvent,
    AnswerRequest,
    AttendRequest,
    Attention,
    DenseSettings,
    DraftJudgement,
    GenerateRequest,
    GenerationEvent,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    JudgeDraftRequest,
    LogprobsRequest,
    ModelDescription,
    OrchestratorDescription,
    Passage,
    PassageInContext,
    PassageRequest,
    PolicyDescription,
    Query,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
    SearchRequest,
    SearchResult,
    TextLogprobs,
)


class Generator(Protocol):
    """A language model that continues a text, token by token."""

    def generate(self, request: GenerateRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the tokens as the model writes them, then one :class:`GenerationEnd`.

        An engine that counts the tokens of the prompt yields a :class:`GenerationStart` first.
        Several samples follow one another, each with an end. Closing the generator stops the model
        within one token.
        """
        ...

    async def attend(self, request: AttendRequest) -> Attention:
        """Return the last-layer attention of a text.

        Raises:
            CapabilityMissing: the engine returns no attention.
        """
        ...

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        """Return the log-probabilities of a given text.

        Raises:
            CapabilityMissing: the engine returns none for given texts.
        """
        ...

    async def release_answer(self, answer_id: str) -> None:
        """Free what the engine keeps for an answer; an unknown id is ignored.

        Only an engine with :attr:`~scaar.core.types.Capability.ANSWER_SLOTS` keeps anything.
        """
        ...

    async def describe_model(self) -> ModelDescription:
        """Return the model and its capabilities."""
        ...


class ContributionScorer(Protocol):
    """A cross-encoder that scores the contribution of each word to the meaning of a sentence."""

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        """Return the contribution r in [0, 1] of every word of every request (SCAAR Eq. 1)."""
        ...

    async def describe_model(self) -> ScorerDescription:
        """Return the cross-encoder."""
        ...


class QueryBuilder(Protocol):
    """Builds a query from a judged sentence."""

    async def build_query(self, request: QueryRequest) -> Query:
        """Return the query of a formulation; the question if the formulation is empty."""
        ...


class Retriever(Protocol):
    """Searches named indexes of passages."""

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        """Return at most ``top_k`` passages for each query that match the filters, best first.

        Excluded passages do not count towards ``top_k``. Ties are ordered by passage id. Scores and
        order are those of the whole index.

        Raises:
            InvalidRequest: the index does not declare a field of the filters.
            NotFound: the index does not exist.
        """
        ...

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        """Return a passage by its id, with its neighbours in its document.

        Raises:
            InvalidRequest: the id is empty or too long.
            NotFound: the index does not exist, or has no such passage.
            DataCorrupt: the index is damaged.
        """
        ...

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Return every index, sorted by name, damaged indexes with their ``damage``."""
        ...

    async def describe_index(self, index: str) -> IndexDescription:
        """Return an index.

        Raises:
            NotFound: the index does not exist.
            DataCorrupt: the index is damaged.
        """
        ...


class IndexKeeper(Retriever, Protocol):
    """A retriever whose indexes can be built, changed, verified and deleted."""

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        """Build an index of this name. Searches use it once it is complete.

        Until then, searches use the existing index. An upsert has the same result, version and
        scores included, as building the merged passages: replaced passages keep their positions,
        added ones follow. An upsert without changes leaves the index as it is. The index declares
        ``metadata_fields``; an upsert keeps those of the index. With ``dense``, searches compare
        the vectors of the retriever's encoder, otherwise words (BM25); an upsert keeps the kind of
        the index.

        Raises:
            AlreadyExists: the index exists, and the mode is ``CREATE``.
            InvalidRequest: a passage has no id or no text, repeats an id, or has an undeclared
                field; or an upsert declares other fields or another ``dense``.
            CapabilityMissing: the retriever has no encoder, or not the encoder of the index.
            Overloaded: concurrent changes of the index interrupted the upsert repeatedly.
        """
        ...

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        """Delete passages, and return the number of deleted ones. Missing passages are skipped."""
        ...

    async def verify_index(self, index: str) -> IndexVerification:
        """Validate everything stored of an index against its description; change nothing."""
        ...

    async def drop_index(self, index: str) -> None:
        """Delete an index.

        Raises:
            NotFound: the index does not exist.
        """
        ...


class CorpusCounts(Protocol):
    """Counts of entities in a corpus, best the text that the model was trained on.

    Entities match without regard to case, punctuation and white space.
    """

    @property
    def digest(self) -> str:
        """A digest of the counts."""
        ...

    async def count(self, entities: Sequence[str]) -> tuple[int, ...]:
        """Return how often each entity occurs; 0 for one without words."""
        ...

    async def count_together(
        self, pairs: Sequence[tuple[str, str]], *, window: int
    ) -> tuple[int, ...]:
        """Return for each pair of entities in how many pairs of places they occur together.

        That is in the same text, at most ``window`` words apart.
        """
        ...


class Answerer(Protocol):
    """Answers questions, and reports every decision."""

    def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of the answer. The last one is :class:`AnswerFinished`.

        Closing the generator stops all work for the answer.
        """
        ...


class DraftJudge(Protocol):
    """Judges given drafts as an answerer judges its own."""

    async def judge_draft(self, request: JudgeDraftRequest) -> DraftJudgement:
        """Return the judgement of a draft; nothing is retrieved.

        Raises:
            InvalidRequest: naming every wrong field and its limit, or a policy that judges none.
            CapabilityMissing: the model gives no log-probabilities of given texts, or lacks another
                capability that the policy needs.
        """
        ...


class Catalog(Protocol):
    """What an orchestrator can answer with: policies, indexes and models."""

    async def list_policies(self) -> tuple[PolicyDescription, ...]:
        """Return every policy with its settings for the current model."""
        ...

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        """Return every index, sorted by name, damaged indexes with their ``damage``."""
        ...

    async def search(self, request: SearchRequest) -> SearchResult:
        """Return the passages for one query, best first, without generating an answer.

        Raises:
            InvalidRequest: naming every wrong field and its limit.
            NotFound: the index does not exist.
            DataCorrupt: the index is damaged.
        """
        ...

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        """Return a passage by its id, with its neighbours in its document.

        Raises:
            InvalidRequest: naming every wrong field and its limit.
            NotFound: the index does not exist, or has no such passage.
            DataCorrupt: the index is damaged.
        """
        ...

    async def describe(self) -> OrchestratorDescription:
        """Return the models that answer and the version of the orchestrator."""
        ...


class Evaluator(Protocol):
    """Evaluates policies on questions with known answers, and stores the predictions."""

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        """Queue an evaluation, or return the existing one with the same request id.

        The request id is an idempotency key of the tenant.

        Raises:
            InvalidRequest: naming every wrong field; nothing is stored.
            AlreadyExists: the request id belongs to a different request; names the differences.
            Overloaded: the tenant has the maximum number of unfinished evaluations.
        """
        ...

    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        """Return an evaluation and its progress."""
        ...

    async def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        """Return a page of the evaluations in any of the states, newest first. Default: all.

        Raises:
            InvalidRequest: the page size is out of range, or the token belongs to another query.
        """
        ...

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        """Cancel an evaluation, and return it. Its predictions are kept.

        Raises:
            WrongState: the evaluation has succeeded or failed.
        """
        ...

    async def resume_evaluation(
        self, evaluation_id: str, *, retry_failed: bool = False
    ) -> EvaluationDescription:
        """Continue an evaluation that failed or was cancelled, and return it.

        With ``retry_failed``, failed predictions are made again. No effect on an evaluation that
        has not ended or has nothing left to do.

        Raises:
            Overloaded: the tenant has the maximum number of unfinished evaluations.
        """
        ...

    def watch_evaluation(self, evaluation_id: str) -> AsyncGenerator[EvaluationProgress, None]:
        """Yield the progress: the current state first, then every change, up to the end."""
        ...

    async def report(self, evaluation_id: str, report_format: ReportFormat) -> str:
        """Return the report of an evaluation.

        Raises:
            WrongState: the evaluation has not succeeded; the metadata have its state and progress.
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
        """Return a page of the stored predictions. Default: of every setting and question.

        Raises:
            InvalidRequest: the setting or question does not exist, the page size is out of range,
                or the token belongs to another query.
        """
        ...


class Records(Protocol):
    """The records of answers. A caller sees those of its own tenant only, an operator all."""

    async def get_record(self, record_id: str) -> AnswerRecord:
        """Return a record.

        Raises:
            NotFound: there is no such record, or it belongs to another tenant.
        """
        ...

    async def list_records(
        self,
        records: RecordFilter = EVERY_RECORD,
        *,
        page_size: int | None = None,
        page_token: str = "",
    ) -> RecordPage:
        """Return a page of the records that match, newest first.

        Raises:
            InvalidRequest: naming every wrong field and its limit.
            PermissionDenied: the tenant of the filter is not the caller's.
        """
        ...

    async def delete_records(
        self, records: RecordFilter = EVERY_RECORD, *, ids: Sequence[str] = ()
    ) -> int:
        """Delete the records that match, or those with the ids; return their number.

        Raises:
            InvalidRequest: there is no filter and no id, or there are both.
        """
        ...

    async def explain_record(self, request: ExplainRecordRequest) -> RecordExplanation:
        """Judge the drafts of a record under other settings, without a model.

        Raises:
            InvalidRequest: naming every wrong setting and its limit.
            WrongState: the record lacks the evidence that the trigger needs.
        """
        ...

    async def summarize_records(
        self, records: RecordFilter = EVERY_RECORD, *, period_s: int | None = None
    ) -> tuple[RecordGroup, ...]:
        """Return counts and means by period, tenant and policy. Default: by day.

        Raises:
            InvalidRequest: naming every wrong field and its limit.
        """
        ...

    async def submit_feedback(
        self, record_id: str, verdict: Verdict, comment: str = ""
    ) -> RecordSummary:
        """Store a verdict on an answer, by the id of its record or of its request.

        Raises:
            InvalidRequest: the comment is too long.
            NotFound: there is no such record.
        """
        ...
