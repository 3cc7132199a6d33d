"""The setting ``exclude_seen``: passages of an answer that its later retrievals exclude."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.filters import MAX_CHARACTERS_TOGETHER, MAX_EXCLUDED
from scaar.core.types import (
    AnswerEvent,
    BudgetLimits,
    ExcludeSeen,
    OnFailure,
    Passage,
    PassagesRetrieved,
    QueryBuilt,
    ReadPassage,
    ScoreRequest,
    SentenceRegenerated,
)
from scaar.testing.fakes import InMemoryRetriever, ScriptedScorer

from .scripted import (
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    SO_LONDON,
    SO_PARIS,
    Parts,
    Untouchable,
    answer_in,
    asking,
    model,
    only,
    parts,
    sentences_in,
    words_of,
)

IN_ROME = " She died in Rome."
DRAFTS = {
    "": BORN_IN_PARIS + IN_ROME,
    BORN_IN_LONDON: IN_ROME + SO_PARIS,
    BORN_IN_PARIS: IN_ROME + SO_PARIS,
    BORN_IN_LONDON + IN_ROME: SO_LONDON,
    BORN_IN_PARIS + IN_ROME: SO_PARIS,
}
AGAIN = {
    "": BORN_IN_LONDON + IN_ROME,
    BORN_IN_LONDON: IN_ROME + SO_LONDON,
    BORN_IN_PARIS: IN_ROME + SO_LONDON,
}


def answering(*doubts: str, again: dict[str, str] = AGAIN, **changed: object) -> Parts:
    """Return ports whose model doubts these words of an answer with two facts."""
    return parts(model(DRAFTS, again, ["Paris.", "Rome.", *doubts]), **changed)


def excluded(events: Sequence[AnswerEvent]) -> list[tuple[str, ...]]:
    return [event.excluded_ids for event in only(PassagesRetrieved, events)]


def found(events: Sequence[AnswerEvent]) -> list[list[str]]:
    return [[each.id for each in event.passages] for event in only(PassagesRetrieved, events)]


@pytest.mark.parametrize("policy", ["scaar", "flare"])
async def test_by_default_a_passage_is_read_again(policy: str) -> None:
    ports = answering()
    events = await ports.events(asking(policy, top_k=1))
    assert found(events) == [["p1"], ["p1"]]
    assert excluded(events) == [(), ()]
    assert {event.uncertain for event in only(SentenceRegenerated, events)} == {None}


@pytest.mark.parametrize("policy", ["scaar", "flare"])
async def test_passages_that_were_read_are_excluded_from_later_retrievals(policy: str) -> None:
    ports = answering()
    events = await ports.events(asking(policy, top_k=1, exclude_seen=ExcludeSeen.SEEN))
    assert found(events) == [["p1"], ["p2"]]
    assert excluded(events) == [(), ("p1",)]
    assert [each.excluded_ids for each in ports.retriever.requests] == excluded(events)
    assert [each.passage_ids for each in answer_in(events).sentences] == [("p1",), ("p2",), ()]


async def test_passages_that_gave_no_text_were_read_too() -> None:
    ports = answering(again=AGAIN | {"": ""})
    events = await ports.events(asking(top_k=1, exclude_seen=ExcludeSeen.SEEN))
    assert sentences_in(events)[0] == BORN_IN_PARIS
    assert excluded(events) == [(), ("p1",)]


async def test_an_answer_that_has_read_every_passage_keeps_its_drafts() -> None:
    ports = answering()
    events = await ports.events(asking(top_k=2, exclude_seen=ExcludeSeen.SEEN))
    assert found(events) == [["p1", "p2"], []]
    assert len(only(SentenceRegenerated, events)) == 1


@pytest.mark.parametrize(("doubts", "ids"), [(["London."], ("p1",)), ([], ())])
async def test_unhelpful_passages_are_those_of_a_rewrite_that_is_still_uncertain(
    doubts: list[str], ids: tuple[str, ...]
) -> None:
    ports = answering(*doubts)
    events = await ports.events(asking(top_k=1, exclude_seen=ExcludeSeen.UNHELPFUL))
    assert excluded(events) == [(), ids]
    first, second = only(SentenceRegenerated, events)
    assert (first.uncertain, second.uncertain) == (bool(doubts), True)
    # The draft and the rewrite of each sentence are judged with the scorer's contributions.
    assert len(ports.scorer.requests) == 4


async def test_a_rewrite_without_text_and_one_that_concludes_are_not_judged() -> None:
    ports = answering(again=AGAIN | {"": "", BORN_IN_PARIS: SO_LONDON})
    events = await ports.events(asking(top_k=1, exclude_seen=ExcludeSeen.UNHELPFUL))
    assert [each.uncertain for each in only(SentenceRegenerated, events)] == [True, None]
    assert excluded(events) == [(), ("p1",)]
    assert len(ports.scorer.requests) == 2


async def test_a_rewrite_is_judged_by_the_trigger_alone() -> None:
    # The query needs contributions, the trigger does not.
    ports = answering("London.")
    request = asking("flare", query="pfq", top_k=1, exclude_seen=ExcludeSeen.UNHELPFUL)
    assert excluded(await ports.events(request)) == [(), ("p1",)]
    assert len(ports.scorer.requests) == 2


class FailingAtRewrites(ScriptedScorer):
    """A scorer that fails for the sentence of the rewrite."""

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        if "London." in requests[0].words:
            raise BackendUnavailable("gone")
        return await super().score_contributions(requests)


async def test_a_rewrite_that_cannot_be_judged_is_degraded() -> None:
    ports = answering("London.", scorer=FailingAtRewrites({}))
    request = asking(top_k=1, exclude_seen=ExcludeSeen.UNHELPFUL)
    with pytest.raises(BackendUnavailable):
        await ports.events(request)
    events = await ports.events(replace(request, on_failure=OnFailure.ACCEPT_DRAFT))
    first = answer_in(events).sentences[0]
    assert first.text == BORN_IN_LONDON
    assert first.degraded is not None
    assert first.degraded.stage == "judging sentence 0 again"
    assert only(SentenceRegenerated, events)[0].uncertain is None


@pytest.mark.parametrize(("policy", "kept"), [("fixed_sentence", 1), ("ircot", 2)])
async def test_policies_that_always_retrieve_exclude_what_is_in_the_prompt(
    policy: str, kept: int
) -> None:
    text = BORN_IN_LONDON + IN_ROME + SO_LONDON
    ports = parts(
        lambda requested: words_of(text.removeprefix(requested.prefix)), scorer=Untouchable()
    )
    events = await ports.events(asking(policy, top_k=1, exclude_seen=ExcludeSeen.SEEN))
    assert excluded(events) == [(), ("p1",)]
    assert len(answer_in(events).sentences[1].passage_ids) == kept


@pytest.mark.parametrize(
    ("count", "length"), [(MAX_EXCLUDED + 60, 4), (90, 400)], ids=["ids", "characters"]
)
async def test_the_newest_passages_are_excluded_within_the_limits_of_a_request(
    count: int, length: int
) -> None:
    passages = [Passage(f"{number:0{length}}", "", "born") for number in range(count)]
    text = "".join(f" Ada was born {number}." for number in range(count // 30 + 1)) + SO_LONDON
    ports = parts(
        lambda requested: words_of(text.removeprefix(requested.prefix)),
        scorer=Untouchable(),
        retriever=InMemoryRetriever({"lab": passages}),
    )
    budget = BudgetLimits(max_sentences=100, max_retrievals=100)
    events = await ports.events(
        asking("fixed_sentence", budget=budget, top_k=30, exclude_seen=ExcludeSeen.SEEN)
    )
    last, all_read = excluded(events)[-1], [each for ids in found(events)[:-1] for each in ids]
    assert last == tuple(dict.fromkeys(all_read))[-len(last) :]
    assert len(last) == min(MAX_EXCLUDED, MAX_CHARACTERS_TOGETHER // length)


@pytest.mark.parametrize(
    ("policy", "value", "said"),
    [
        ("fixed_sentence", ExcludeSeen.UNHELPFUL, "unhelpful needs judged sentences"),
        ("single_round", ExcludeSeen.SEEN, "policy single_round has no such setting"),
        ("no_retrieval", ExcludeSeen.SEEN, "policy no_retrieval has no such setting"),
    ],
)
async def test_a_policy_for_which_the_setting_means_nothing_refuses_it(
    policy: str, value: ExcludeSeen, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"exclude_seen: {said}"):
        await answering().events(asking(policy, exclude_seen=value))


async def test_a_bridged_query_has_the_passages_from_which_earlier_sentences_were_written() -> None:
    ports = answering()
    events = await ports.events(asking("scaar", query="bridged", top_k=1))
    first, second = ports.query_builder.requests
    assert first.read == ()
    assert second.read == (ReadPassage("Ada", "Ada was born in London.", rank=1),)
    texts = [event.query.text for event in only(QueryBuilt, events)]
    assert ["London" in text for text in texts] == [False, True]


async def test_other_queries_do_not_get_the_passages() -> None:
    ports = answering()
    await ports.events(asking("scaar", top_k=1))
    assert [each.read for each in ports.query_builder.requests] == [(), ()]
