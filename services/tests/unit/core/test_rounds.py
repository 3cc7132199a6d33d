"""Rounds: the policy that retrieves after the answer, and writes it again."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import count, pairwise

import pytest

from scaar.core.errors import BackendUnavailable, DeadlineExceeded
from scaar.core.policies import PRESETS
from scaar.core.policies.preset import Preset
from scaar.core.types import (
    AnswerDrafted,
    AnswerEnd,
    AnswerEvent,
    AnswerRequest,
    BudgetLimits,
    ExcludeSeen,
    GenerateRequest,
    Moment,
    OnFailure,
    Passage,
    PassagesRetrieved,
    QueryBuilt,
    QuerySettings,
    RetrieveRequest,
    RetrieveResult,
    SentenceAccepted,
    TokenDrafted,
)
from scaar.testing.fakes import InMemoryRetriever

from .scripted import (
    QUESTION,
    Parts,
    answer_in,
    asking,
    kinds,
    only,
    other_tasks,
    parts,
    sentences_in,
    words_of,
)

HOPS = ("Ada", "Byron", "Calvert", "Dunmore")
"""Each passage names the next person, whose passage the next round finds."""
PASSAGES = [
    Passage(f"p{number}", "", f"The tutor of {one} was {next_}.")
    for number, (one, next_) in enumerate(pairwise(HOPS), 1)
]
ROUND = ["QueryBuilt", "PassagesRetrieved", "TokenDrafted"]


def text_of(name: str) -> str:
    return f" The tutor was {name}. So the answer is {name}."


def names_the_last(requested: GenerateRequest) -> list[tuple[str, float]]:
    """Answers with the last name of the prompt."""
    before = requested.prompt.removesuffix(f"Question: {QUESTION}\nAnswer:")
    name = max(("nobody", *HOPS[1:]), key=before.rfind) if before else "nobody"
    return words_of(text_of(name).removeprefix(requested.prefix))


class Chained(InMemoryRetriever):
    """Finds the passage of the last name of the query, and fails or finds nothing from a round."""

    def __init__(self, *, fails: Sequence[int] = (), empty: Sequence[int] = ()) -> None:
        super().__init__({"lab": PASSAGES})
        self._fails, self._empty = fails, empty

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        number = len(self.requests) + 1
        found = await super().retrieve(request)
        if number in self._fails:
            raise BackendUnavailable("gone")
        (query,) = request.queries
        name = max(HOPS[:-1], key=query.rfind)
        kept = [each for each in found.results[0] if f"of {name} " in each.text]
        return replace(found, results=(tuple(kept) if number not in self._empty else (),))


def ports(retriever: InMemoryRetriever | None = None, **changed: object) -> Parts:
    return parts(names_the_last, retriever=retriever or Chained(), **changed)


def queries(events: Sequence[AnswerEvent]) -> list[str]:
    return [event.query.text for event in only(QueryBuilt, events)]


async def collect(made: Parts, request: AnswerRequest, events: list[AnswerEvent]) -> None:
    """Append the events, up to an error."""
    async with aclosing(made.loop().stream_answer(request)) as stream:
        async for event in stream:
            events.append(event)


@pytest.mark.parametrize("draft_ahead", [True, False])
async def test_every_round_retrieves_for_the_previous_answer_and_writes_it_again(
    draft_ahead: bool,
) -> None:
    made = ports(draft_ahead=draft_ahead)
    events = await made.events(asking("iter_retgen"))
    assert kinds(events) == [
        "AnswerStarted",
        *(*ROUND, "AnswerDrafted") * 2,
        *(*ROUND, "SentenceAccepted", "TokenDrafted", "SentenceAccepted"),
        "AnswerFinished",
    ]
    drafts = [text_of("Byron"), text_of("Calvert")]
    assert only(AnswerDrafted, events) == [AnswerDrafted(1, drafts[0]), AnswerDrafted(2, drafts[1])]
    assert queries(events) == [QUESTION, *(f"{QUESTION}{draft}" for draft in drafts)]
    assert {event.sentence for event in only(QueryBuilt, events)} == {0}
    assert {event.sentence for event in only(PassagesRetrieved, events)} == {0}
    prompts = list(dict.fromkeys(each.prompt for each in made.generator.requests))
    assert prompts == [
        f"Context:\n[1] {passage.text}\nQuestion: {QUESTION}\nAnswer:" for passage in PASSAGES
    ], "the passages of the round, and the question alone"
    answer = answer_in(events)
    assert (answer.text, answer.answer) == (text_of("Dunmore"), "Dunmore")
    assert answer.end is AnswerEnd.ANSWER_PHRASE
    assert [each.passage_ids for each in answer.sentences] == [("p3",)] * 2
    assert [passage.id for passage in answer.passages] == ["p3"]
    assert answer.usage.retrievals == 3
    assert answer.usage.generated_tokens >= 3 * len(answer.text.split()), "those of every round"
    accepted = only(SentenceAccepted, events)
    assert "".join(event.accepted.text for event in accepted) == answer.text
    assert [(event.start, event.end) for event in accepted] == [(0, 23), (23, 49)]


@pytest.mark.parametrize("rounds", [1, 2, 4])
async def test_rounds_limits_the_retrievals_of_an_answer(rounds: int) -> None:
    answer = answer_in(await ports().events(asking("iter_retgen", rounds=rounds)))
    assert answer.usage.retrievals == rounds
    assert answer.provenance.policy.rounds == rounds


@pytest.mark.parametrize("retrievals", [0, 1, 2])
async def test_the_last_round_within_the_limit_of_retrievals_is_accepted(retrievals: int) -> None:
    budget = BudgetLimits(max_retrievals=retrievals)
    events = await ports().events(asking("iter_retgen", budget=budget))
    assert answer_in(events).text == text_of(["nobody", "Byron", "Calvert"][retrievals])
    assert len(only(AnswerDrafted, events)) == max(0, retrievals - 1)


async def test_an_answer_that_uses_up_the_tokens_is_not_written_again() -> None:
    events = await ports().events(asking("iter_retgen", budget=BudgetLimits(max_tokens=6)))
    assert only(AnswerDrafted, events) == []
    answer = answer_in(events)
    assert (answer.end, answer.usage.retrievals) == (AnswerEnd.MAX_TOKENS, 1)
    assert sentences_in(events)[:2] == [" The tutor was Byron.", " So the"]


@pytest.mark.parametrize(("tokens", "drafts"), [(17, 0), (18, 1), (26, 1), (27, 2)])
async def test_no_round_starts_that_would_run_out_of_tokens(tokens: int, drafts: int) -> None:
    made = ports()
    events = await made.events(asking("iter_retgen", budget=BudgetLimits(max_tokens=tokens)))
    assert len(only(AnswerDrafted, events)) == drafts
    answer = answer_in(events)
    assert (answer.text, answer.end) == (text_of(HOPS[drafts + 1]), AnswerEnd.ANSWER_PHRASE)


async def test_the_limit_of_sentences_is_that_of_every_round() -> None:
    events = await ports().events(asking("iter_retgen", budget=BudgetLimits(max_sentences=1)))
    assert len(only(AnswerDrafted, events)) == 2
    assert sentences_in(events) == [" The tutor was Dunmore.", " So the answer is Dunmore."]


@pytest.mark.parametrize(
    ("empty", "name"), [((1,), "Dunmore"), ((2,), "Byron"), ((1, 2), "nobody")]
)
async def test_a_draft_for_which_nothing_is_found_is_accepted(
    empty: Sequence[int], name: str
) -> None:
    events = await ports(Chained(empty=empty)).events(asking("iter_retgen", rounds=4))
    answer = answer_in(events)
    assert answer.text == text_of(name)
    assert not answer.degraded
    accepted = only(SentenceAccepted, events)
    assert tuple(event.accepted for event in accepted) == answer.sentences
    for event in accepted:
        assert answer.text[event.start : event.end] == event.accepted.text


@pytest.mark.parametrize(
    ("fails", "name", "degraded"),
    [((1,), "Calvert", False), ((2,), "Byron", True), ((3,), "Calvert", True)],
)
async def test_after_a_failed_retrieval_the_draft_is_accepted_as_degraded(
    fails: Sequence[int], name: str, degraded: bool
) -> None:
    request = replace(asking("iter_retgen"), on_failure=OnFailure.ACCEPT_DRAFT)
    events = await ports(Chained(fails=fails)).events(request)
    answer = answer_in(events)
    assert answer.text == text_of(name)
    assert [each.degraded is not None for each in answer.sentences] == [degraded] * 2
    assert tuple(each.accepted for each in only(SentenceAccepted, events)) == answer.sentences
    with pytest.raises(BackendUnavailable):
        await ports(Chained(fails=fails)).events(asking("iter_retgen"))


async def test_excluded_passages_stay_excluded_in_later_rounds() -> None:
    retriever = InMemoryRetriever({"lab": PASSAGES})
    events = await ports(retriever).events(
        asking("iter_retgen", top_k=1, rounds=2, exclude_seen=ExcludeSeen.SEEN)
    )
    first, second = only(PassagesRetrieved, events)
    assert second.excluded_ids == tuple(passage.id for passage in first.passages) != ()
    assert not set(second.excluded_ids) & {passage.id for passage in second.passages}


async def test_a_query_has_the_whole_answer_up_to_its_limit() -> None:
    long = " ".join(["", *("word",) * 200]) + ". So the answer is Byron."
    made = parts(
        lambda requested: words_of(long.removeprefix(requested.prefix)), retriever=Chained()
    )
    events = await made.events(asking("iter_retgen", rounds=2))
    (drafted,) = only(AnswerDrafted, events)
    assert queries(events)[1].split() == [*QUESTION.split(), *drafted.text.split()]
    assert len(drafted.text.split()) > 200


async def test_time_that_runs_out_in_a_later_round_fails_the_answer_with_its_stage() -> None:
    ticks = count()
    made = ports(clock=lambda: float(next(ticks)))
    taken = answer_in(await made.events(asking("iter_retgen", budget=BudgetLimits(timeout_s=3600))))
    ticks = count()
    budget = BudgetLimits(timeout_s=taken.usage.latency_ms / 1000 * 0.6)
    events = list[AnswerEvent]()
    with pytest.raises(DeadlineExceeded) as caught:
        await collect(made, asking("iter_retgen", budget=budget), events)
    assert [event.round for event in only(AnswerDrafted, events)] == [1]
    assert only(SentenceAccepted, events) == []
    assert "stage" in caught.value.metadata


@pytest.mark.parametrize("after", [AnswerDrafted, PassagesRetrieved, TokenDrafted])
async def test_leaving_in_the_middle_of_a_round_stops_the_model(after: type[AnswerEvent]) -> None:
    made = ports()
    async with aclosing(made.loop().stream_answer(asking("iter_retgen"))) as events:
        drafted = False
        async for event in events:
            drafted |= isinstance(event, AnswerDrafted)
            if drafted and isinstance(event, after):
                break
    assert made.generator.opened == made.generator.closed
    assert other_tasks() == set()


async def test_a_policy_can_draft_from_memory_and_retrieve_for_the_draft_only() -> None:
    query = QuerySettings("full_context", include_question=True)
    own = Preset("own", (Moment.AFTER_ANSWER,), query, rounds=2)
    with PRESETS.with_parts({"own": own}):
        events = await ports().events(asking("own"))
    assert only(AnswerDrafted, events) == [AnswerDrafted(1, text_of("nobody"))]
    assert queries(events) == [f"{QUESTION}{text_of('nobody')}"]
    assert answer_in(events).text == text_of("Byron")
