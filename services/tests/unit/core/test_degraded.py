"""A part that fails in mid-answer: the caller's choice, and what the sentence says then."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import (
    BackendUnavailable,
    DataCorrupt,
    DeadlineExceeded,
    NotFound,
    Overloaded,
    ScaarError,
)
from scaar.core.types import (
    AnswerRequest,
    BudgetLimits,
    Degradation,
    IndexDescription,
    OnFailure,
    PassagesRetrieved,
    Query,
    QueryBuilt,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
    SentenceJudged,
)
from scaar.testing.fakes import InMemoryRetriever, ScriptedScorer

from .scripted import (
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    PASSAGES,
    SO_LONDON,
    SO_PARIS,
    UNSURE_OF_PARIS,
    Parts,
    RecordingQueryBuilder,
    answer_in,
    asking,
    kinds,
    model,
    only,
    parts,
    sentences_in,
)

ERRORS = (
    BackendUnavailable("retriever:50051 does not answer", target="retriever:50051"),
    DeadlineExceeded("retriever:50051 did not answer in time"),
    Overloaded("8 calls are running"),
    DataCorrupt("the index is damaged"),
    NotFound("the index was dropped"),
    ScaarError("internal error"),
)


class FailingScorer(ScriptedScorer):
    def __init__(self, error: ScaarError, *, describes: bool = True) -> None:
        super().__init__({})
        self._error = error
        self._describes = describes

    async def describe_model(self) -> ScorerDescription:
        if not self._describes:
            raise self._error
        return await super().describe_model()

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        raise self._error


class FailingRetriever(InMemoryRetriever):
    """Fails this number of times, then answers."""

    def __init__(self, error: ScaarError, *, times: int = 99, describes: bool = True) -> None:
        super().__init__({"lab": PASSAGES})
        self._error = error
        self._times = times
        self._describes = describes

    async def describe_index(self, index: str) -> IndexDescription:
        if not self._describes:
            raise self._error
        return await super().describe_index(index)

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        self._times -= 1
        if self._times >= 0:
            raise self._error
        return await super().retrieve(request)


class FailingQueryBuilder(RecordingQueryBuilder):
    async def build_query(self, request: QueryRequest) -> Query:
        raise BackendUnavailable("gone")


def bearing(policy: str = "scaar", **changes: object) -> AnswerRequest:
    """Asks, with the draft in place of a failure."""
    return replace(asking(policy, **changes), on_failure=OnFailure.ACCEPT_DRAFT)


def failing(part: str, error: ScaarError) -> Parts:
    match part:
        case "scorer":
            return parts(UNSURE_OF_PARIS, scorer=FailingScorer(error))
        case _:
            return parts(UNSURE_OF_PARIS, retriever=FailingRetriever(error))


@pytest.mark.parametrize("part", ["scorer", "retriever"])
# One that is overloaded is waited for: see test_capacity.py.
@pytest.mark.parametrize(
    "error",
    [error for error in ERRORS if not isinstance(error, Overloaded)],
    ids=lambda error: error.reason,
)
async def test_a_failure_fails_the_answer_unless_the_caller_chose_otherwise(
    part: str, error: ScaarError
) -> None:
    with pytest.raises(type(error)) as caught:
        await failing(part, error).events(asking())
    assert caught.value is error


@pytest.mark.parametrize(
    ("part", "stage"),
    [("scorer", "judging sentence 0"), ("retriever", "retrieving for sentence 0")],
)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.reason)
async def test_the_draft_is_accepted_and_names_the_failure(
    part: str, stage: str, error: ScaarError
) -> None:
    ports = failing(part, error)
    answer = answer_in(await ports.events(bearing()))
    assert [sentence.text for sentence in answer.sentences] == [BORN_IN_PARIS, SO_PARIS]
    first, conclusion = answer.sentences
    assert first.degraded == Degradation(stage, error.reason, error.message)
    assert (first.passage_ids, conclusion.degraded) == ((), None)
    assert answer.degraded
    assert ports.generator.opened == ports.generator.closed


async def test_without_a_failure_no_sentence_is_degraded() -> None:
    answer = answer_in(await parts(UNSURE_OF_PARIS).events(bearing()))
    assert answer.answer == "London"
    assert not answer.degraded


async def test_a_draft_that_could_not_be_judged_has_no_judgement() -> None:
    ports = failing("scorer", BackendUnavailable("gone"))
    events = await ports.events(bearing())
    assert only(SentenceJudged, events) == []
    assert kinds(events) == [
        "AnswerStarted",
        *("TokenDrafted", "SentenceAccepted"),
        *("TokenDrafted", "SentenceAccepted"),
        "AnswerFinished",
    ]
    assert len(ports.generator.requests) == 1, "the draft continues"


async def test_a_query_that_could_not_be_built_leaves_the_draft() -> None:
    ports = parts(UNSURE_OF_PARIS, query_builder=FailingQueryBuilder())
    events = await ports.events(bearing())
    assert only(QueryBuilt, events) == []
    first = answer_in(events).sentences[0]
    assert first.degraded == Degradation(
        "building the query for sentence 0", "BACKEND_UNAVAILABLE", "gone"
    )


async def test_the_next_sentence_is_tried_anew() -> None:
    second = " She died in Rome."
    drafts = {
        "": BORN_IN_PARIS + second + SO_PARIS,
        BORN_IN_PARIS: second + SO_PARIS,
        BORN_IN_PARIS + BORN_IN_LONDON: SO_LONDON,
    }
    script = model(drafts, {BORN_IN_PARIS: BORN_IN_LONDON + SO_LONDON}, doubts=["Paris.", "Rome."])
    ports = parts(script, retriever=FailingRetriever(BackendUnavailable("gone"), times=1))
    events = await ports.events(bearing())
    reported = [sentence.degraded is not None for sentence in answer_in(events).sentences]
    assert reported == [True, False, False]
    assert sentences_in(events) == [BORN_IN_PARIS, BORN_IN_LONDON, SO_LONDON]
    assert answer_in(events).usage.retrievals == 2, "a retrieval that failed was one"


async def test_passages_for_the_whole_answer_that_failed_degrade_all_of_it() -> None:
    ports = parts(UNSURE_OF_PARIS, retriever=FailingRetriever(BackendUnavailable("gone")))
    answer = answer_in(await ports.events(bearing("single_round")))
    assert [sentence.text for sentence in answer.sentences] == [BORN_IN_PARIS, SO_PARIS]
    stages = {sentence.degraded and sentence.degraded.stage for sentence in answer.sentences}
    assert stages == {"retrieving for sentence 0"}


@pytest.mark.parametrize("policy", ["fixed_sentence", "fixed_length", "ircot"])
async def test_a_policy_that_always_retrieves_continues_without_passages(policy: str) -> None:
    ports = parts(model(), retriever=FailingRetriever(BackendUnavailable("gone")))
    events = await ports.events(bearing(policy))
    assert only(PassagesRetrieved, events) == []
    answer = answer_in(events)
    assert answer.text == BORN_IN_PARIS + SO_PARIS
    assert answer.sentences[0].degraded is not None


@pytest.mark.parametrize(
    "ports",
    [
        lambda: parts(
            UNSURE_OF_PARIS, scorer=FailingScorer(BackendUnavailable("gone"), describes=False)
        ),
        lambda: parts(
            UNSURE_OF_PARIS,
            retriever=FailingRetriever(BackendUnavailable("gone"), describes=False),
        ),
    ],
    ids=["scorer", "retriever"],
)
async def test_a_part_that_is_down_from_the_start_is_treated_the_same(ports: object) -> None:
    opened: Parts = ports()  # type: ignore[operator]
    answer = answer_in(await opened.events(bearing()))
    assert answer.sentences[0].degraded is not None
    assert "" in (answer.provenance.scorer, answer.provenance.index)


async def test_an_index_that_was_never_there_is_the_callers_mistake() -> None:
    with pytest.raises(NotFound, match="'elsewhere'"):
        await parts(model()).events(replace(bearing(), index="elsewhere"))


async def test_the_time_limit_of_the_answer_is_not_tolerated() -> None:
    readings = 0

    def clock() -> float:
        nonlocal readings
        readings += 1
        return 100.0 if ports.query_builder.requests else 0.0

    error = DeadlineExceeded("the retriever did not answer in time")
    ports = parts(UNSURE_OF_PARIS, retriever=FailingRetriever(error), clock=clock)
    with pytest.raises(DeadlineExceeded):
        await ports.events(bearing(budget=BudgetLimits(timeout_s=10.0)))
