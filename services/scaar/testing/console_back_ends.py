"""Back ends of the console in memory: records, evaluations and a catalog with hostile texts.

They hold enough of everything to show every state of a page.
"""

import math
from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from starlette.testclient import TestClient

from scaar.console.app import build_app
from scaar.console.back_ends import BackEnd, BackEnds
from scaar.console.back_ends import Ports as ConsolePorts
from scaar.console.settings import ConsoleSettings
from scaar.core.errors import BackendUnavailable, NotFound, ScaarError
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationError,
    EvaluationPage,
    EvaluationPrediction,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    PredictionPage,
    ReportFormat,
    SettingFigures,
)
from scaar.core.loop.answer_state import Ports
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.ports import Answerer, Catalog, Evaluator, Records
from scaar.core.records import (
    EVERY_RECORD,
    AnswerRecord,
    ExplainRecordRequest,
    Feedback,
    RecordContent,
    RecordExplanation,
    RecordFilter,
    RecordGroup,
    RecordMoments,
    RecordPage,
    RecordSummary,
    Verdict,
)
from scaar.core.types import (
    AcceptedSentence,
    AnswerEvent,
    AnswerStarted,
    IndexDescription,
    JudgedWord,
    OrchestratorDescription,
    Passage,
    PassageInContext,
    PassageRequest,
    PassagesRetrieved,
    PolicyDescription,
    Query,
    QueryBuilt,
    RetrievedPassage,
    SearchRequest,
    SearchResult,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    Usage,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.artefacts import artefact_of
from scaar.testing.evaluations import provenance
from scaar.testing.fakes import (
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> \u202eright to left\u202c"
LONG_WORD = "w" * 2_000
NOW = datetime(2030, 6, 15, 12, 30, tzinfo=UTC)
ARTEFACT = artefact_of("flare-1.4")
PASSAGES = (
    Passage("p1", "Ada", "Ada Lovelace wrote the first program for the Analytical Engine."),
    Passage("p2", "Babbage", "Charles Babbage designed the Analytical Engine in London."),
    Passage("p3", "Hostile", f"The Engine of {HOSTILE}"),
)
QUESTIONS = (
    "Who wrote the first program for the Analytical Engine?",
    "Where was the engineer born who designed the Difference Engine?",
    "In which year did the Analytical Society hold its first meeting?",
    "Which countess translated Menabrea's article, and for whom?",
)


def record_of(number: int, **changes: object) -> RecordSummary:
    """Return the record of an answer; records of other numbers differ in every column."""
    failed = number % 11 == 7
    found = RecordSummary(
        id=f"{number:026x}",
        request_id=f"request-{number}",
        tenant=("default", "acme")[number % 3 == 2],
        created_at=(NOW - timedelta(minutes=37 * number)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        content=RecordContent.FULL,
        policy=("scaar", "flare-1.4", "flare", "single_round")[number % 4],
        artefact_digest=ARTEFACT.digest if number % 4 == 1 else "",
        model="lab-lm",
        index="lab",
        question=QUESTIONS[number % len(QUESTIONS)],
        answer="" if failed else ("Ada Lovelace", "London", "1812")[number % 3],
        failure="BACKEND_UNAVAILABLE" if failed else "",
        judged_drafts=3,
        uncertain_drafts=number % 3,
        sentences=3,
        degraded_sentences=int(number % 9 == 4),
        retrievals=number % 3,
        generated_tokens=140 + number,
        prompt_tokens=2_300,
        latency_ms=820.4 + 31 * number,
        mean_probability=0.71 + 0.02 * (number % 5),
        abstained=number % 13 == 5,
        feedback=Feedback(tuple(Verdict)[number % 3]) if number % 5 == 1 else None,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


class ListedRecords:
    """Records in memory. ``filters`` are those of the received calls."""

    def __init__(
        self, records: Sequence[RecordSummary] = (), groups: Sequence[RecordGroup] = ()
    ) -> None:
        self.records = tuple(records)
        self.groups = tuple(groups)
        self.filters: list[RecordFilter] = []
        self.periods: list[int | None] = []

    async def get_record(self, record_id: str) -> AnswerRecord:
        raise NotFound(f"there is no record {record_id!r}")

    async def list_records(
        self,
        records: RecordFilter = EVERY_RECORD,
        *,
        page_size: int | None = None,
        page_token: str = "",
    ) -> RecordPage:
        self.filters.append(records)
        found = [each for each in self.records if _matches(each, records)]
        start, size = int(page_token or 0), page_size or 100
        end = start + size
        return RecordPage(tuple(found[start:end]), str(end) if end < len(found) else "")

    async def delete_records(
        self, records: RecordFilter = EVERY_RECORD, *, ids: Sequence[str] = ()
    ) -> int:
        raise AssertionError("the console deletes nothing")

    async def explain_record(self, request: ExplainRecordRequest) -> RecordExplanation:
        raise NotFound(f"there is no record {request.id!r}")

    async def summarize_records(
        self, records: RecordFilter = EVERY_RECORD, *, period_s: int | None = None
    ) -> tuple[RecordGroup, ...]:
        self.filters.append(records)
        self.periods.append(period_s)
        return tuple(
            each for each in self.groups if not records.policy or each.policy == records.policy
        )

    async def submit_feedback(
        self, record_id: str, verdict: Verdict, comment: str = ""
    ) -> RecordSummary:
        raise NotFound(f"there is no record {record_id!r}")


class FailingRecords(ListedRecords):
    """Records whose service does not respond, or another error for every call."""

    def __init__(self, error: ScaarError | None = None) -> None:
        super().__init__()
        self._error = error or BackendUnavailable("records at 127.0.0.1:1 does not respond")

    async def list_records(
        self,
        records: RecordFilter = EVERY_RECORD,
        *,
        page_size: int | None = None,
        page_token: str = "",
    ) -> RecordPage:
        raise self._error

    async def summarize_records(
        self, records: RecordFilter = EVERY_RECORD, *, period_s: int | None = None
    ) -> tuple[RecordGroup, ...]:
        raise self._error


def _matches(record: RecordSummary, records: RecordFilter) -> bool:
    names = ("tenant", "policy", "index", "request_id")
    wanted = [(getattr(records, name), getattr(record, name)) for name in names]
    wanted += [
        (records.retrieved, record.retrievals > 0),
        (records.degraded, record.degraded_sentences > 0),
        (records.failed, bool(record.failure)),
        (records.has_feedback, record.feedback is not None),
        (records.verdict, record.feedback and record.feedback.verdict),
    ]
    if any(value not in ("", None) and value != found for value, found in wanted):
        return False
    return records.text.lower() in f"{record.question}\n{record.answer}".lower()


def groups_until(end: datetime, *, days: int = 30) -> tuple[RecordGroup, ...]:
    """Return counts by day of three policies, of which a tuned one drifts."""
    first = end.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    names = {"flare-1.4": ARTEFACT.digest, "scaar": "", "single_round": ""}
    found = []
    for day in range(days):
        start = (first + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
        for at, (policy, digest) in enumerate(names.items()):
            if day % 9 == 4 and at:
                continue
            wave = math.sin(day / 4 + at)
            answers = int(160 - 40 * at + 30 * wave)
            judged = 0 if policy == "single_round" else 3 * answers
            rate = 0.22 + 0.05 * wave + (0.012 * day if at == 0 else 0.0)
            retrievals = answers if policy == "single_round" else int(rate * judged)
            uncertain, degraded = int(rate * judged), int(answers * 0.02 * (1 + wave))
            known = 0.8 - rate / 3
            latency = 900 + 200 * wave + 150 * at
            found.append(
                RecordGroup(
                    *(start, ("default", "acme")[at % 2], policy, digest, answers),
                    failed=int(2 + wave * 2),
                    retrieved=min(retrievals, answers),
                    retrievals=retrievals,
                    generated_tokens=160 * answers,
                    prompt_tokens=2_000 * answers,
                    judged_drafts=judged,
                    uncertain_drafts=uncertain,
                    sentences=3 * answers,
                    degraded_sentences=degraded,
                    mean_probability=known if judged else None,
                    mean_latency_ms=latency,
                    # An answer has 3 drafts and at most one degraded sentence; a quarter of the
                    # answers have most of the uncertain drafts.
                    moments=RecordMoments(
                        retrievals_squared=2 * retrievals,
                        judged_squared=3 * judged,
                        uncertain_squared=2 * uncertain,
                        judged_uncertain=3 * uncertain,
                        sentences_squared=9 * answers,
                        degraded_squared=degraded,
                        sentences_degraded=3 * degraded,
                        with_probability=answers if judged else 0,
                        probability_squared=answers * (known**2 + 0.01) if judged else 0.0,
                        latency_squared=answers * (latency**2 + 160_000),
                    ),
                )
            )
    return tuple(found)


SETTINGS = ("no_retrieval", "flare:theta=0.3", "flare:theta=0.8")
EVALUATION = EvaluationDescription(
    id="0190-aaaa",
    tenant="default",
    request_id="nightly",
    state=EvaluationState.SUCCEEDED,
    dataset="lab",
    questions=30,
    settings=SETTINGS,
    seed=11,
    limit=30,
    index="lab",
    timeout_s=60.0,
    created="2030-06-14T01:00:00Z",
    total=90,
    started="2030-06-14T01:00:02Z",
    ended="2030-06-14T01:09:40Z",
    done=90,
    failed=1,
)
RUNNING = replace(
    EVALUATION,
    id="0190-bbbb",
    request_id="",
    state=EvaluationState.RUNNING,
    created="2030-06-15T12:00:00Z",
    ended="",
    done=34,
    failed=0,
)


def prediction_of(setting: str, number: int) -> EvaluationPrediction:
    """Return the prediction of a setting for a question."""
    at = SETTINGS.index(setting)
    right = (number * 7 + at * 3) % 5 < 2 + at
    question = EvaluationQuestion(
        f"q{number}", QUESTIONS[number % 4], ("Ada Lovelace", "Augusta Ada King")
    )
    failure = EvaluationError("DEADLINE_EXCEEDED", "the deadline expired while generating")
    return EvaluationPrediction(
        setting,
        question.id,
        "Ada Lovelace" if right else "Charles Babbage",
        " Ada Lovelace wrote it.",
        Usage(at, 1 + at, 60 + 40 * at, 900, 400.0 + 250 * at),
        failure=failure if (at, number) == (2, 8) else None,
        scores=(("f1", 1.0 if right else 0.25), ("em", float(right))),
        question=question,
        events=events_of(setting) if at else (),
    )


def events_of(setting: str) -> tuple[AnswerEvent, ...]:
    """Return the events of a sentence with a retrieval, whose texts are hostile."""
    word = JudgedWord("<b>Babbage", 1, 11, probability=0.2, threshold=0.3, uncertain=True)
    draft, text = " <b>Babbage.", f" {HOSTILE}."
    found = RetrievedPassage("p1", "", "", 0.0, 1)
    return (
        AnswerStarted(provenance(setting)),
        SentenceJudged(0, draft, (word,), 0, retrieving=True, score=0.2),
        QueryBuilt(0, Query(HOSTILE, "current_sentence", kept=(0,))),
        PassagesRetrieved(0, "lab", "v1", (found,)),
        SentenceRegenerated(0, draft, text),
        SentenceAccepted(0, AcceptedSentence(text, ("p1",)), 0, len(text)),
    )


class FixedEvaluator:
    """An evaluator with two evaluations, of which one is running."""

    def __init__(
        self, evaluations: Sequence[EvaluationDescription] = (RUNNING, EVALUATION)
    ) -> None:
        self.evaluations = {each.id: each for each in evaluations}

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        raise AssertionError("the console creates nothing")

    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        if evaluation_id not in self.evaluations:
            raise NotFound(f"there is no evaluation {evaluation_id!r}")
        return self.evaluations[evaluation_id]

    async def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        found = [each for each in self.evaluations.values() if not states or each.state in states]
        start = int(page_token or 0)
        end = start + (page_size or 100)
        return EvaluationPage(tuple(found[start:end]), str(end) if end < len(found) else "")

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        raise AssertionError("the console cancels nothing")

    async def resume_evaluation(
        self, evaluation_id: str, *, retry_failed: bool = False
    ) -> EvaluationDescription:
        raise AssertionError("the console resumes nothing")

    async def watch_evaluation(
        self, evaluation_id: str
    ) -> AsyncGenerator[EvaluationProgress, None]:
        found = await self.get_evaluation(evaluation_id)
        done = found.done // len(SETTINGS)
        figures = tuple(
            SettingFigures(each, done, 0, "f1", 0.4 + 0.2 * at, 0.9 * at)
            for at, each in enumerate(SETTINGS)
        )
        remaining = None if found.state.ended else 48.0
        yield EvaluationProgress(found, 0.8, remaining, figures)

    async def report(self, evaluation_id: str, report_format: ReportFormat) -> str:
        await self.get_evaluation(evaluation_id)
        match report_format:
            case ReportFormat.HTML:
                return "<!doctype html><html lang=en><title>Report</title><h1>Report</h1></html>"
            case ReportFormat.JSON:
                return "{}"
            case ReportFormat.MARKDOWN:
                return "# Report"

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
        evaluation = await self.get_evaluation(evaluation_id)
        settings = (setting,) if setting else SETTINGS
        found = [prediction_of(each, at) for each in settings for at in range(evaluation.questions)]
        found = [each for each in found if question_id in ("", each.question_id)]
        if not detailed:
            found = [replace(each, question=None, events=()) for each in found]
        start = int(page_token or 0)
        end = start + (page_size or 100)
        return PredictionPage(tuple(found[start:end]), str(end) if end < len(found) else "")


class ForgottenCatalog:
    """A catalog whose orchestrator does not respond."""

    async def list_policies(self) -> tuple[PolicyDescription, ...]:
        _fail()

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        _fail()

    async def search(self, request: SearchRequest) -> SearchResult:
        _fail()

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        _fail()

    async def describe(self) -> OrchestratorDescription:
        _fail()


def _fail() -> NoReturn:
    raise BackendUnavailable("orchestrator at 127.0.0.1:1 does not respond")


def catalog() -> PortsCatalog:
    """Return a catalog with a tuned policy and an index."""
    ports = Ports(
        ScriptedGenerator({}),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES, "empty": ()}),
    )
    policies = TunedPolicies([ARTEFACT])
    return PortsCatalog(ports, version="1.2.3", policies=policies, default_index="lab")


class MemoryBackEnds(BackEnds):
    """Services of these ports. An orchestrator that is not given does not respond."""

    def __init__(
        self,
        *,
        catalog: Catalog | None = None,
        evaluator: Evaluator | None = None,
        records: Records | None = None,
        answerer: Answerer | None = None,
    ) -> None:
        given = {"orchestrator": catalog, "records": records, "evaluator": evaluator}
        super().__init__(
            {
                role: BackEnd(role, "" if port is None else f"memory:{role}", role)
                for role, port in given.items()
            }
        )
        answerer = answerer or ScriptedAnswerer(lambda request: ())
        self._ports = ConsolePorts(answerer, catalog or ForgottenCatalog(), records, evaluator)

    def ports(self, headers: Mapping[str, str], request_id: str) -> ConsolePorts:
        return self._ports

    async def are_serving(self) -> Mapping[str, bool]:
        return {role: bool(each.target) for role, each in self.services.items()}


@contextmanager
def open_pages(
    *,
    catalog: Catalog | None = None,
    evaluator: Evaluator | None = None,
    records: Records | None = None,
    answerer: Answerer | None = None,
    settings: ConsoleSettings | None = None,
) -> Iterator[TestClient]:
    """Yield a client of the console over these ports; the time is that of the records."""
    back_ends = MemoryBackEnds(
        catalog=catalog, evaluator=evaluator, records=records, answerer=answerer
    )
    app = build_app(back_ends, settings or ConsoleSettings())
    app.state.clock = NOW.timestamp
    with TestClient(app, base_url="http://localhost") as client:
        yield client
