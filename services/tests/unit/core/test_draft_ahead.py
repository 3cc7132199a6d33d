"""One continuing draft: the events of a call for every sentence, in fewer calls."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import BackendUnavailable
from scaar.core.policies import PRESETS
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    BudgetLimits,
    Fusion,
    GenerateRequest,
    Passage,
    ScoreRequest,
    SentenceAccepted,
    SentenceJudged,
    TokenDrafted,
    Usage,
)
from scaar.testing.fakes import (
    WHITE_BOX_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)

from .scripted import (
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    SO_LONDON,
    SO_PARIS,
    UNSURE_OF_PARIS,
    Parts,
    answer_in,
    asking,
    kinds,
    model,
    only,
    other_tasks,
    parts,
    sentences_in,
    words_of,
)

PLENTY = BudgetLimits(max_sentences=100, max_tokens=8_192, max_retrievals=100)
SENTENCES = (
    " F.W. Murnau directed it in the U.S. for Fox, Inc. for 15,140 dollars.",
    " He left...",
    "\n\n It was, e.g., seen in St. Louis 🙂 by Coolie No. 1 (1995 film)?",
    " Yes! They stayed in Acme Inc. He went to the U.S. She did not [12].",
    " Where to?",
    " Ada Byron was born in London",
    ".",
    "  ",
    " So the answer is",
    " So the answer is St. Louis.",
    " And then some more.",
)


class Tongue:
    """A model with a text of its own and another for passages.

    What it writes next hangs on how far the text has come and on nothing else, as if decoding
    greedily; so do the ends of its tokens, of which some lie across the ends of sentences.
    """

    def __init__(self, own: str, from_passages: str, seed: int) -> None:
        self._texts = (own, from_passages)
        chance = random.Random(seed)
        self._ends = [n for n in range(1, 600) if chance.random() < 0.4]
        self._logprobs = {n: chance.choice([-0.01, -0.01, -0.1, -2.0, None]) for n in range(600)}
        self._name = f"Tongue({own!r}, {from_passages!r}, {seed})"

    def __repr__(self) -> str:
        return self._name

    def __call__(self, requested: GenerateRequest) -> list[Piece]:
        text, at = self._texts["Context:" in requested.prompt], len(requested.prefix)
        ends = [at, *(n for n in self._ends if at < n < len(text)), max(at, len(text))]
        return [
            (text[start:end], self._logprobs[end % 600])
            for start, end in pairwise(ends)
            if start < end
        ]


texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8).map("".join)
tongues = st.builds(Tongue, own=texts, from_passages=texts, seed=st.integers(0, 10_000))


class SlowScorer(ScriptedScorer):
    """Yields to other tasks this number of times before it scores."""

    def __init__(self, turns: int) -> None:
        super().__init__(lambda requested: [len(word) / 20 for word in requested.words])
        self._turns = turns

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        for _ in range(self._turns):
            await asyncio.sleep(0)
        return await super().score_contributions(requests)


async def reported(ports: Parts, policy: str, budget: BudgetLimits) -> list[AnswerEvent]:
    """The events without their usage."""
    # What is paid to a token over two words counts in both, so the words of a query by attention
    # may differ with the tokens, as they do under this policy.
    query = "current_sentence" if policy == "etc_reference" else None
    # A retriever in memory has no cosines.
    fusion = Fusion.RANK if policy.startswith("dtr") else None
    events = await ports.events(asking(policy, budget=budget, query=query, fusion=fusion))
    free = Usage(answer_in(events).usage.retrievals, 0, 0, 0, 0.0)
    finished = AnswerFinished(replace(answer_in(events), usage=free))
    # The fake numbers its tokens as it comes to them.
    return [
        replace(event, token=replace(event.token, id=0))
        if isinstance(event, TokenDrafted)
        else event
        for event in (*events[:-1], finished)
    ]


@pytest.mark.parametrize("policy", [each for each in PRESETS if each != "self_rag"])
@given(
    tongue=tongues,
    turns=st.integers(0, 80),
    sentences=st.integers(1, 20),
    retrievals=st.integers(0, 8),
)
def test_the_events_are_those_of_a_call_a_sentence(
    policy: str, tongue: Tongue, turns: int, sentences: int, retrievals: int
) -> None:
    async def both() -> None:
        budget = replace(PLENTY, max_sentences=sentences, max_retrievals=retrievals)
        separate, ahead = (
            Parts(
                ScriptedGenerator(tongue, model=WHITE_BOX_MODEL),
                scorer=SlowScorer(turns),
                retriever=InMemoryRetriever({"lab": [Passage("p", "", "Ada was born in it")]}),
                draft_ahead=draft_ahead,
            )
            for draft_ahead in (False, True)
        )
        assert await reported(ahead, policy, budget) == await reported(separate, policy, budget)
        assert len(ahead.generator.requests) <= len(separate.generator.requests)
        for ports in (separate, ahead):
            assert ports.generator.opened == ports.generator.closed
        assert other_tasks() == set()

    asyncio.run(both())


async def test_an_answer_that_triggers_nothing_is_one_call() -> None:
    ports = parts(model())
    events = await ports.events(asking())
    assert sentences_in(events) == [BORN_IN_PARIS, SO_PARIS]
    assert answer_in(events).usage.llm_calls == len(ports.generator.requests) == 1
    assert answer_in(events).usage.generated_tokens == 10


async def test_the_model_writes_on_while_a_sentence_is_judged_and_stops_at_a_trigger() -> None:
    ahead = " She wrote." * 30

    class Watching(ScriptedScorer):
        async def score_contributions(
            self, requests: Sequence[ScoreRequest]
        ) -> tuple[tuple[float, ...], ...]:
            for _ in range(1_000):
                await asyncio.sleep(0)
            return await super().score_contributions(requests)

    script = model({"": BORN_IN_PARIS + ahead}, doubts=["Paris."])
    ports = parts(script, scorer=Watching({}))
    async with aclosing(ports.loop().stream_answer(asking())) as events:
        async for event in events:
            if isinstance(event, SentenceJudged):
                assert event.retrieving
                assert ports.generator.closed == 0
            elif not isinstance(event, TokenDrafted) and ports.scorer.requests:
                assert ports.generator.closed == ports.generator.opened == 1, "it was stopped"
                break


async def test_tokens_beyond_the_judged_sentence_are_withheld_until_it_is_accepted() -> None:
    events = await parts(model()).events(asking())
    assert kinds(events)[1:5] == [
        "TokenDrafted",
        "SentenceJudged",
        "SentenceAccepted",
        "TokenDrafted",
    ]
    shown = [
        "".join(e.token.text for e in only(TokenDrafted, events) if e.sentence == n) for n in (0, 1)
    ]
    assert shown == [BORN_IN_PARIS, SO_PARIS]


async def test_discarded_tokens_written_ahead_count_as_usage_and_not_against_the_limit() -> None:
    script = model(
        drafts={
            "": BORN_IN_PARIS + " She wrote." * 100,
            BORN_IN_LONDON: SO_LONDON,
        },
        again={"": BORN_IN_LONDON + SO_LONDON},
        doubts=["Paris."],
    )
    counts = []
    for turns in (500, 0):
        ports = Parts(ScriptedGenerator(script), scorer=SlowScorer(turns))
        events = await ports.events(asking(budget=BudgetLimits(max_tokens=100)))
        counts.append(answer_in(events).usage.generated_tokens)
        _, again, rest = ports.generator.requests
        assert again.max_tokens == 100 - 6, "the draft, and the word that showed its end"
        assert rest.max_tokens == 100 - 6 - 6
    slow, quick = counts
    assert slow - quick > 50


async def test_a_failure_ahead_of_a_sentence_that_triggers_fails_nobody() -> None:
    def script(requested: GenerateRequest) -> list[Piece | Exception]:
        if "Context:" in requested.prompt or requested.prefix:
            return list(UNSURE_OF_PARIS(requested))
        return [*words_of(BORN_IN_PARIS, ["Paris."]), (" She", -0.1), BackendUnavailable("gone")]

    ports = Parts(ScriptedGenerator(script), scorer=SlowScorer(50))
    assert answer_in(await ports.events(asking())).answer == "London"


async def test_a_failure_ahead_of_an_accepted_sentence_is_raised_when_it_is_reached() -> None:
    pieces = [*words_of(BORN_IN_PARIS), (" She", -0.1), BackendUnavailable("gone")]
    ports = Parts(ScriptedGenerator(lambda requested: pieces), scorer=SlowScorer(50))
    seen = []

    async def listening() -> None:
        async with aclosing(ports.loop().stream_answer(asking(theta=0.1))) as events:
            async for event in events:
                seen.append(event)

    with pytest.raises(BackendUnavailable, match="gone"):
        await listening()
    assert [event.accepted.text for event in only(SentenceAccepted, seen)] == [BORN_IN_PARIS]


async def test_a_text_longer_than_one_call_continues_in_the_next() -> None:
    words = words_of((" Film" * 119 + " end.") * 30)
    text = "".join(word for word, _ in words)
    starts = [0, *accumulate(len(word) for word, _ in words)]

    def script(requested: GenerateRequest) -> list[Piece]:
        if not text.startswith(requested.prefix):
            return words_of(" Paris.")
        return words[starts.index(len(requested.prefix)) :]

    ports = parts(script)
    events = await ports.events(asking("no_retrieval", budget=replace(PLENTY, max_tokens=2_024)))
    calls = [(request.max_tokens, len(request.prefix)) for request in ports.generator.requests]
    forced = starts[2_024] + len(" So the answer is")
    assert calls == [(1_024, 0), (1_000, starts[1_024]), (20, forced)]
    assert len(ports.generator.requests[1].prefix_token_ids) == 1_024
    answer = answer_in(events)
    assert answer.end is AnswerEnd.MAX_TOKENS
    assert answer.text == text[: starts[2_024]] + SO_PARIS
    crossing = [event.token for event in only(TokenDrafted, events) if event.sentence == 8]
    assert [token.start for token in crossing] == starts[:120]
