"""FLARE as its authors run it: passages before the first sentence, which stay in the prompt."""

import pytest

from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import (
    ExcludeSeen,
    GenerateRequest,
    Granularity,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    QueryBuilt,
    SentenceRegenerated,
    SettingSource,
)
from scaar.testing.fakes import SCRIPTED_MODEL, Piece

from .scripted import PASSAGES, QUESTION, answer_in, asking, kinds, only, parts, words_of

BORN = " Ada was born in Paris."
AGAIN = " Ada was born in London."
POET = " Byron was a poet."
SO = " So the answer is London."
LORD = " Byron was a lord."


def unsure(requested: GenerateRequest) -> list[Piece]:
    """Doubt where Ada was born while drafting, and write London in a generation of one sentence."""
    again = requested.max_tokens <= 128
    place: Piece = (" London.", -0.01) if again else (" Paris.", -2.0)
    born: list[Piece] = [(" Ada", -0.01), (" was", -0.4), (" born", -0.01), (" in", -0.01), place]
    rest = {"": POET + SO, BORN: POET + SO, AGAIN: POET + SO, AGAIN + POET: SO}[requested.prefix]
    return [*([] if requested.prefix else born), *words_of(rest)]


async def test_passages_for_the_question_precede_the_first_draft() -> None:
    made = parts(unsure)
    events = await made.events(asking("flare_reference"))
    assert kinds(events)[:4] == [
        "AnswerStarted",
        "QueryBuilt",
        "PassagesRetrieved",
        "TokenDrafted",
    ]
    first, second = only(QueryBuilt, events)
    assert first.query.text == QUESTION
    # P(was) is 0.67: above the mask of 0.4, below the threshold of 0.8.
    assert second.query.text == "Ada was born in"
    assert [len(event.passages) for event in only(PassagesRetrieved, events)] == [2, 2]
    assert only(SentenceRegenerated, events)[0].text == AGAIN


def unsure_of_byron(requested: GenerateRequest) -> list[Piece]:
    """Doubt what Byron was, and write another word in a generation of one sentence."""
    again = requested.max_tokens <= 128
    byron = words_of(LORD) if again else words_of(POET, ["poet."])
    rest = {"": [*words_of(AGAIN), *byron], AGAIN: byron}.get(requested.prefix, [])
    return [*rest, *words_of(SO)]


@pytest.mark.parametrize(
    ("max_passages", "cited"),
    [(1, [("p1",), ("p2",), ("p2",)]), (2, [("p1",), ("p2",), ("p1", "p2")])],
)
async def test_drafts_have_the_last_passages_up_to_max_passages(
    max_passages: int, cited: list[tuple[str, ...]]
) -> None:
    """Every retrieval finds one passage, and the second another one than the first."""
    request = asking(
        "flare_reference", top_k=1, exclude_seen=ExcludeSeen.SEEN, max_passages=max_passages
    )
    made = parts(unsure_of_byron)
    answer = answer_in(await made.events(request))
    assert answer.text == AGAIN + LORD + SO
    assert [sentence.passage_ids for sentence in answer.sentences] == cited
    last = made.generator.requests[-1].prompt
    assert [each.text in last for each in PASSAGES] == [max_passages == 2, True]


def test_its_settings_are_those_of_the_authors() -> None:
    policy = effective_policy(PolicyRequest("flare_reference"), SCRIPTED_MODEL)
    assert (policy.theta, policy.mask_below, policy.top_k, policy.max_passages) == (0.8, 0.4, 2, 2)
    assert policy.granularity is Granularity.TOKEN
    sources = dict(policy.sources)
    names = ("theta", "granularity", "top_k", "max_passages", "truncate")
    assert {sources[name] for name in names} == {SettingSource.PAPER}


def test_another_trigger_judges_words() -> None:
    other = PolicyRequest("flare_reference", PolicyOverrides(trigger="perplexity"))
    assert effective_policy(other, SCRIPTED_MODEL).granularity is Granularity.WORD
