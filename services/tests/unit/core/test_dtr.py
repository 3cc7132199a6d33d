"""``dtr``: the answer is judged as a whole, and written again from the passages of two paths."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing
from scaar.core.text.fusion import cosine_of_sum, fuse_by
from scaar.core.types import (
    AnswerDrafted,
    AnswerStarted,
    BudgetLimits,
    DenseDescription,
    DenseSettings,
    Fusion,
    GenerateRequest,
    IndexDescription,
    OnFailure,
    PassagesRetrieved,
    QueryBuilt,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
    SentenceJudged,
    VectorMetric,
)
from scaar.testing.fakes import InMemoryRetriever, Piece

from .scripted import (
    AGAIN,
    BORN_IN_LONDON,
    DRAFTS,
    PASSAGES,
    QUESTION,
    SO_LONDON,
    Parts,
    Untouchable,
    answer_in,
    asking,
    kinds,
    only,
    parts,
    sentences_in,
    words_of,
)

WRITTEN = " Ada was born in London, as was Byron."
DENSE = DenseDescription("words", "1", 8, DenseSettings())
# Both rules prefer c, which only the second query ranks first.
COSINES = {"a": (0.9, 0.1), "b": (0.7, 0.6), "c": (0.55, 0.8)}


class Cosines(InMemoryRetriever):
    """An index of vectors, whose scores are given by passage for both queries."""

    def __init__(
        self,
        cosines: dict[str, tuple[float, float]] = COSINES,
        *,
        dense: DenseDescription | None = DENSE,
        error: Exception | None = None,
        undescribed: Exception | None = None,
    ) -> None:
        super().__init__({"lab": PASSAGES})
        self._cosines, self._dense = cosines, dense
        self._error, self._undescribed = error, undescribed

    async def describe_index(self, index: str) -> IndexDescription:
        if self._undescribed is not None:
            raise self._undescribed
        return replace(await super().describe_index(index), dense=self._dense)

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        self.requests.append(request)
        if self._error is not None:
            raise self._error
        results = tuple(
            _ranked({name: both[path] for name, both in self._cosines.items()})
            for path in range(len(request.queries))
        )
        return RetrieveResult(request.index, "1", results)


def _ranked(scores: dict[str, float]) -> tuple[RetrievedPassage, ...]:
    best = sorted(scores, key=lambda each: (-scores[each], each))
    return tuple(
        RetrievedPassage(name, "", f"Passage {name}.", scores[name], rank)
        for rank, name in enumerate(best, 1)
    )


def unsure(requested: GenerateRequest, logprob: float = -0.01) -> list[Piece]:
    """Write an answer, or a passage for the question, with the log-probability of every token."""
    if requested.prompt.endswith("Passage:"):
        return words_of(WRITTEN)
    texts = AGAIN if "Context:" in requested.prompt else DRAFTS
    words = words_of((texts | {BORN_IN_LONDON: SO_LONDON})[requested.prefix])
    return [(word, logprob) for word, _ in words]


def dtr(retriever: object, logprob: float = -0.01) -> Parts:
    return parts(lambda requested: unsure(requested, logprob), retriever=retriever)


@pytest.mark.parametrize(
    ("policy", "ids"), [("dtr", ["c", "b", "a"]), ("dtr_reference", ["c", "b", "a"])]
)
async def test_an_uncertain_answer_is_written_again_from_the_passages_of_both_paths(
    policy: str, ids: list[str]
) -> None:
    retriever = Cosines()
    ports = dtr(retriever)
    events = await ports.events(asking(policy))
    assert kinds(events) == [
        "AnswerStarted",
        "TokenDrafted",
        "SentenceJudged",
        "AnswerDrafted",
        "QueryBuilt",
        "PassagesRetrieved",
        "TokenDrafted",
        "SentenceAccepted",
        "TokenDrafted",
        "SentenceAccepted",
        "AnswerFinished",
    ]
    (judged,) = only(SentenceJudged, events)
    assert (judged.sentence, judged.retrieving) == (0, True)
    assert judged.text == only(AnswerDrafted, events)[0].text == DRAFTS[""]
    assert judged.score == pytest.approx(0.01)
    (built,) = only(QueryBuilt, events)
    assert (built.query.text, built.query.fused_with) == (QUESTION, WRITTEN.strip())
    assert not built.query.fell_back
    (request,) = retriever.requests
    assert request.queries == (QUESTION, WRITTEN.strip())
    assert (request.top_k, request.score_all) == (5, True)
    (found,) = only(PassagesRetrieved, events)
    assert [each.id for each in found.passages] == ids
    answer = answer_in(events)
    assert answer.answer == "London"
    assert (answer.usage.retrievals, answer.usage.searches) == (1, 2)
    assert sentences_in(events) == [BORN_IN_LONDON, SO_LONDON]


async def test_both_rules_order_passages_by_their_own_formula() -> None:
    # By angles, two middling cosines lose against a large and a small one less than by the sum.
    cosines = {"even": (0.5, 0.5), "far": (0.99, 0.0)}
    orders = []
    for policy in ("dtr", "dtr_reference"):
        events = await dtr(Cosines(cosines)).events(asking(policy))
        (found,) = only(PassagesRetrieved, events)
        orders.append([(each.id, each.rank) for each in found.passages])
        scores = {each.id: each.score for each in found.passages}
        for name, (first, second) in cosines.items():
            angles = math.cos(math.acos(first) + math.acos(second))
            known = angles if policy == "dtr" else first + second
            assert scores[name] == pytest.approx(known)
    assert orders == [[("far", 1), ("even", 2)], [("even", 1), ("far", 2)]]


@pytest.mark.parametrize("policy", ["dtr", "dtr_reference"])
async def test_a_certain_answer_is_accepted_without_a_passage_or_a_search(policy: str) -> None:
    retriever = Cosines()
    ports = dtr(retriever, logprob=-0.0009)
    events = await ports.events(asking(policy))
    (judged,) = only(SentenceJudged, events)
    assert (judged.trigger, judged.retrieving) == (None, False)
    assert not only(AnswerDrafted, events)
    assert retriever.requests == []
    assert not any(each.prompt.endswith("Passage:") for each in ports.generator.requests)
    assert "".join(sentences_in(events)) == DRAFTS[""]


async def test_an_answer_at_theta_is_uncertain() -> None:
    # 2 ** -10 has an exact mean.
    ports = dtr(Cosines(), logprob=-(2.0**-10))
    (judged,) = only(SentenceJudged, await ports.events(asking("dtr", theta=2.0**-10)))
    assert judged.retrieving
    above = dtr(Cosines(), logprob=-(2.0**-10))
    (judged,) = only(SentenceJudged, await above.events(asking("dtr", theta=2.0**-9)))
    assert not judged.retrieving


async def test_the_tokens_of_the_written_passage_count_as_usage() -> None:
    ports = dtr(Cosines())
    answer = answer_in(await ports.events(asking("dtr")))
    drafted = len(words_of(DRAFTS[""])) + len(words_of(AGAIN[""]))
    assert answer.usage.generated_tokens == drafted + len(words_of(WRITTEN))


async def test_an_answer_without_tokens_for_a_passage_searches_for_the_question() -> None:
    retriever = Cosines()
    draft = len(words_of(DRAFTS[""]))
    ports = dtr(retriever)
    events = await ports.events(asking("dtr", budget=BudgetLimits(max_tokens=2 * draft)))
    assert only(QueryBuilt, events)[0].query.fused_with == ""
    (request,) = retriever.requests
    assert (request.queries, request.top_k, request.score_all) == ((QUESTION,), 3, False)
    assert answer_in(events).answer == "London"


async def test_an_uncertain_answer_is_accepted_if_the_budget_is_too_small_to_write_again() -> None:
    draft = len(words_of(DRAFTS[""]))
    ports = dtr(Cosines())
    events = await ports.events(asking("dtr", budget=BudgetLimits(max_tokens=2 * draft - 1)))
    (judged,) = only(SentenceJudged, events)
    assert judged.trigger is not None
    assert not judged.retrieving
    assert not only(QueryBuilt, events)
    assert "".join(sentences_in(events)) == DRAFTS[""]


async def test_an_answer_without_retrievals_is_judged_and_accepted() -> None:
    retriever = Cosines()
    events = await dtr(retriever).events(asking("dtr", budget=BudgetLimits(max_retrievals=0)))
    (judged,) = only(SentenceJudged, events)
    assert judged.score == pytest.approx(0.01)
    assert judged.trigger is not None
    assert not judged.retrieving
    assert "".join(sentences_in(events)) == DRAFTS[""]
    assert not retriever.requests


async def test_a_failed_retrieval_leaves_the_drafted_answer_degraded() -> None:
    request = replace(asking("dtr"), on_failure=OnFailure.ACCEPT_DRAFT)
    events = await dtr(Cosines(error=BackendUnavailable("gone"))).events(request)
    answer = answer_in(events)
    assert answer.text == DRAFTS[""]
    assert all(each.degraded for each in answer.sentences)


@pytest.mark.parametrize("policy", ["dtr", "dtr_reference"])
@pytest.mark.parametrize(
    ("dense", "kind"),
    [
        (None, "an index by BM25"),
        (
            replace(DENSE, settings=DenseSettings(VectorMetric.L2)),
            "an index of vectors by distance",
        ),
    ],
)
async def test_an_index_without_cosines_is_refused_before_any_work(
    policy: str, dense: DenseDescription | None, kind: str
) -> None:
    ports = dtr(Cosines(dense=dense))
    with pytest.raises(CapabilityMissing, match=f"policy {policy} .* 'lab' is {kind}") as caught:
        await ports.events(asking(policy))
    assert caught.value.metadata == {"policy": policy, "missing": "vector_index"}
    assert ports.generator.requests == []


async def test_an_index_that_cannot_be_described_is_refused_though_failures_are_accepted() -> None:
    ports = dtr(Cosines(undescribed=BackendUnavailable("gone")))
    with pytest.raises(BackendUnavailable):
        await ports.events(replace(asking("dtr"), on_failure=OnFailure.ACCEPT_DRAFT))
    assert ports.generator.requests == []


async def test_by_rank_the_policy_uses_any_index() -> None:
    ports = dtr(InMemoryRetriever({"lab": PASSAGES}))
    events = await ports.events(asking("dtr", fusion=Fusion.RANK))
    (found,) = only(PassagesRetrieved, events)
    assert [each.id for each in found.passages] == ["p1", "p2"]
    started = only(AnswerStarted, events)[0].provenance.policy
    assert (started.fusion, started.rounds, started.trigger) == (Fusion.RANK, 2, "surprisal_mean")


async def test_the_scorer_is_not_used() -> None:
    ports = parts(unsure, retriever=Cosines(), scorer=Untouchable())
    assert answer_in(await ports.events(asking("dtr"))).answer == "London"


@pytest.mark.parametrize("first", [-1.0, -0.3, 0.0, 0.4, 1.0])
@pytest.mark.parametrize("second", [-1.0, 0.2, 0.9, 1.0])
def test_the_cosine_of_the_sum_is_that_of_the_angles(first: float, second: float) -> None:
    known = math.cos(math.acos(first) + math.acos(second))
    assert cosine_of_sum(first, second) == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("fusion", [Fusion.ANGLES, Fusion.SUM])
def test_rounded_cosines_are_clipped_and_ties_go_by_id(fusion: Fusion) -> None:
    results = [_ranked({"b": 1.0000001, "a": 1.0}), _ranked({"b": 1.0, "a": 1.0000001})]
    fused = fuse_by(fusion, results, 2)
    assert _named(fused) == ["a", "b"]
    assert fused[0].score == fused[1].score


def _named(passages: Sequence[RetrievedPassage]) -> list[str]:
    return [each.id for each in passages]
