"""The searches before the first sentence."""

from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.types import (
    AnswerFinished,
    BudgetLimits,
    FirstSearch,
    OnFailure,
    Passage,
    PassagesRetrieved,
    QueryBuilt,
    RetrieveRequest,
    RetrieveResult,
)
from scaar.testing.fakes import InMemoryRetriever

from .scripted import BORN_IN_LONDON, SO_LONDON, Parts, asking, model, only, parts

PASSAGES = (
    Passage("p1", "Where Ada was born", "Ada was the daughter of Lord Byron."),
    Passage("p2", "Births", "Ada was born."),
    Passage("p3", "Ada was born", "born"),
    Passage("p4", "Lord Byron", "Byron was born in London."),
    Passage("p5", "Other lords", "Lord Byron, Lord Byron, Lord Byron"),
)


def mentions_parts(*passages: Passage, **changed: object) -> Parts:
    retriever = InMemoryRetriever({"lab": passages or PASSAGES})
    again = {"": BORN_IN_LONDON + SO_LONDON}
    return parts(model(again=again), **{"retriever": retriever, **changed})


async def read_ids(ports: Parts, policy: str = "single_round", **overrides: object) -> list[str]:
    request = asking(policy, first_search=FirstSearch.MENTIONS, **overrides)
    (finished,) = only(AnswerFinished, await ports.events(request))
    return list(finished.answer.sentences[0].passage_ids)


async def test_a_passage_whose_title_the_best_one_mentions_is_read_second() -> None:
    ports = mentions_parts()
    events = await ports.events(asking("single_round", first_search=FirstSearch.MENTIONS))
    (finished,) = only(AnswerFinished, events)
    first, second, *_ = [event.passages for event in only(PassagesRetrieved, events)]
    assert first[0].id == "p1"
    assert [passage.id for passage in second] == ["p4"]
    assert finished.answer.sentences[0].passage_ids[:2] == ("p1", "p4")
    assert len(finished.answer.sentences[0].passage_ids) == 3
    usage = finished.answer.usage
    assert (usage.retrievals, usage.searches) == (1, len(ports.retriever.requests))
    assert [event.query.formulation for event in only(QueryBuilt, events)][:2] == [
        "question",
        "next_hop",
    ]


async def test_where_nothing_is_mentioned_the_passages_are_those_of_one_search() -> None:
    plain = [Passage(each.id, "", each.text) for each in PASSAGES]
    one = await mentions_parts(*plain).events(asking("single_round"))
    (finished,) = only(AnswerFinished, one)
    expected = list(finished.answer.sentences[0].passage_ids)
    assert await read_ids(mentions_parts(*plain)) == expected


async def test_no_more_passages_than_top_k_are_read() -> None:
    assert await read_ids(mentions_parts(), top_k=2) == ["p1", "p4"]
    assert await read_ids(mentions_parts(), top_k=1) == ["p1"]


async def test_the_searches_are_one_retrieval_of_the_budget() -> None:
    ports = mentions_parts()
    budget = BudgetLimits(max_retrievals=1)
    request = asking("single_round", budget=budget, first_search=FirstSearch.MENTIONS)
    (finished,) = only(AnswerFinished, await ports.events(request))
    assert "p4" in finished.answer.sentences[0].passage_ids


async def test_flare_reference_searches_so_before_its_first_sentence() -> None:
    assert (await read_ids(mentions_parts(), "flare_reference"))[:2] == ["p1", "p4"]


class FailingLater(InMemoryRetriever):
    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        if self.requests:
            raise BackendUnavailable("the retriever is down")
        return await super().retrieve(request)


async def test_a_further_search_that_fails_fails_the_answer() -> None:
    ports = mentions_parts(retriever=FailingLater({"lab": PASSAGES}))
    with pytest.raises(BackendUnavailable):
        await ports.events(asking("single_round", first_search=FirstSearch.MENTIONS))


async def test_where_failures_are_accepted_the_passages_of_the_question_are_read() -> None:
    ports = mentions_parts(retriever=FailingLater({"lab": PASSAGES}))
    request = asking("single_round", first_search=FirstSearch.MENTIONS)
    request = replace(request, on_failure=OnFailure.ACCEPT_DRAFT)
    (finished,) = only(AnswerFinished, await ports.events(request))
    sentence = finished.answer.sentences[0]
    assert sentence.passage_ids[0] == "p1"
    assert "p4" not in sentence.passage_ids
    assert sentence.degraded is not None


async def test_a_policy_that_does_not_retrieve_first_rejects_the_setting() -> None:
    with pytest.raises(InvalidRequest, match="first_search"):
        await mentions_parts().events(asking("flare", first_search=FirstSearch.MENTIONS))
