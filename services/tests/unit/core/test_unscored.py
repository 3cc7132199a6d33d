"""Drafts beyond the limits of a scorer: scored in windows, or judged without contributions."""

from collections.abc import Sequence

import pytest

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.evidence import Draft, Sources, gather
from scaar.core.loop.budget import Budget
from scaar.core.loop.writer import Sentence, Writing
from scaar.core.types import (
    BudgetLimits,
    EvidenceKind,
    GenerateRequest,
    JudgedWord,
    QueryBuilt,
    ScoreRequest,
    SentenceJudged,
)
from scaar.scorer.validation import check_requests
from scaar.testing.fakes import Piece, ScriptedGenerator, ScriptedScorer

from .scripted import BORN_IN_LONDON, QUESTION, Parts, answer_in, asking, only, parts, words_of

LONG_WORD = "x" * 8_001
"""A word that no call of a scorer may have."""


def one_sentence(text: str, doubts: Sequence[str] = ()) -> Parts:
    """Parts whose model drafts one sentence, and writes another from passages."""

    def script(requested: GenerateRequest) -> list[Piece]:
        if requested.prefix:
            return []
        again = "Context:" in requested.prompt
        return words_of(BORN_IN_LONDON if again else f" {text}.", doubts)

    return parts(script)


def of_few_tokens(words: Sequence[str]) -> Parts:
    """Parts whose model drafts one sentence in tokens of four words, as of Chinese text."""
    pieces: list[Piece] = [
        (" " + " ".join(words[at : at + 4]), -0.01) for at in range(0, len(words), 4)
    ]
    return parts(lambda requested: [] if requested.prefix else pieces)


def by_position(request: ScoreRequest) -> list[float]:
    """The number of a word, as its contribution."""
    return [int(word.strip("w.")) / 1000 for word in request.words]


async def test_a_sentence_of_more_words_than_a_call_may_have_is_scored_in_windows() -> None:
    found = of_few_tokens([f"w{number}" for number in range(400)])
    found.scorer = ScriptedScorer(by_position)
    events = await found.events(asking())
    (judged,) = only(SentenceJudged, events)
    assert [word.contribution for word in judged.words] == [at / 1000 for at in range(400)]
    assert not judged.without_contributions
    assert [len(each.words) for each in found.scorer.requests] == [150, 200, 200, 150]
    assert answer_in(events).usage.unscored_sentences == 0


class CountingScorer(ScriptedScorer):
    """Counts the words of each call."""

    def __init__(self) -> None:
        super().__init__(by_position)
        self.words_of_calls: list[int] = []

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        self.words_of_calls.append(sum(len(each.words) for each in requests))
        return await super().score_contributions(requests)


async def test_a_draft_beyond_the_limit_of_a_call_is_scored_in_several() -> None:
    text = " ".join(f"w{number}" for number in range(3_000))
    scorer = CountingScorer()
    budget = Budget(BudgetLimits())
    sources = Sources(ScriptedGenerator({}), scorer, budget, "judging the answer")
    draft = Draft("Who?", "Who?", Writing(), Sentence(text, (), None, last=True))
    evidence = await gather({EvidenceKind.CONTRIBUTIONS}, draft, sources)
    assert evidence.contributions == tuple(at / 1000 for at in range(3_000))
    assert len(scorer.words_of_calls) == 2
    assert max(scorer.words_of_calls) <= 4096


@pytest.mark.parametrize("trigger", ["exp_raw", "surprisal", "tokensar"])
async def test_a_word_beyond_the_limit_is_judged_without_contributions(trigger: str) -> None:
    found = one_sentence(f"Ada was {LONG_WORD} in Paris", ["Paris."])
    events = await found.events(asking(trigger=trigger))
    judged = only(SentenceJudged, events)[0]
    assert judged.without_contributions
    assert [word.contribution for word in judged.words] == [None] * 5
    assert found.scorer.requests == []
    assert answer_in(events).usage.unscored_sentences == 1


async def test_a_draft_without_contributions_is_judged_as_flare_judges_it() -> None:
    text = f"Ada was {LONG_WORD} in Paris"
    by_policy = {
        policy: only(SentenceJudged, await one_sentence(text, ["Paris."]).events(asking(policy)))[0]
        for policy in ("scaar", "flare")
    }
    scaar, flare = by_policy["scaar"], by_policy["flare"]
    assert not flare.without_contributions
    assert [_decided(word) for word in scaar.words] == [_decided(word) for word in flare.words]
    assert (scaar.trigger, scaar.score) == (flare.trigger, flare.score)


def _decided(word: JudgedWord) -> tuple[str, float, bool]:
    return word.text, word.threshold, word.uncertain


@pytest.mark.parametrize("query", ["pfq", "fused", "bridged"])
async def test_the_query_of_a_draft_without_contributions_has_its_confident_words(
    query: str,
) -> None:
    found = one_sentence(f"Ada was {LONG_WORD} in Paris", ["Paris."])
    (built,) = only(QueryBuilt, await found.events(asking(query=query)))
    # A word of a query has at most 8,000 characters.
    assert built.query.text == f"{QUESTION} Ada was {LONG_WORD[:8_000]} in"
    assert built.query.formulation == "current_sentence"


class RejectingScorer(ScriptedScorer):
    """Rejects a sentence, as a scorer whose model is smaller than a word."""

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        check_requests(requests)
        raise InvalidRequest.of("sentences[0].words", "must fit")


async def test_a_draft_that_the_scorer_rejects_is_judged_without_contributions() -> None:
    found = one_sentence("Ada was born in Paris", ["Paris."])
    found.scorer = RejectingScorer({})
    events = await found.events(asking())
    assert only(SentenceJudged, events)[0].without_contributions
    assert answer_in(events).usage.unscored_sentences == 1


async def test_a_scorer_that_returns_too_few_contributions_fails_the_answer() -> None:
    found = one_sentence("Ada was born in Paris")
    found.scorer = ScriptedScorer(lambda request: [])
    with pytest.raises(ScaarError, match="0 contributions were scored for 5 words"):
        await found.events(asking())


async def test_a_query_by_contributions_alone_marks_the_draft_too() -> None:
    found = one_sentence(f"Ada was {LONG_WORD}")
    events = await found.events(asking("flare", query="pfq"))
    assert answer_in(events).usage.unscored_sentences == 1
