"""``verified``: an answer is checked by the passages read, and looked up again or not given."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.types import (
    NOT_IN_DOCUMENTS,
    UNSUPPORTED,
    AnswerDrafted,
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    GenerateRequest,
    Passage,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    SentenceJudged,
)
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator

from .scripted import Parts, answer_in, kinds, only, sentences_in, words_of

CLIFFS = tuple(Passage(f"p{at}", f"Cliff {at}", f"Where was Ada born {at}?") for at in range(3))
LONDON = Passage("p9", "Ada", "Ada, born in London.")
IN_LONDON, IN_PARIS, UNKNOWN = " Ada was born in London.", " Born in Paris.", " I don't know."
REQUEST = AnswerRequest(
    "Where was Ada born?",
    PolicyRequest("verified"),
    prompt_profile="instruct",
    answer=AnswerForm.TEXT,
)


def parts(*answers: str, passages: Sequence[Passage] = (*CLIFFS, LONDON)) -> Parts:
    """Return ports whose model writes an answer a round."""
    prompts = dict[str, str]()

    def write(requested: GenerateRequest) -> list[Piece]:
        text = prompts.setdefault(requested.prompt, answers[min(len(prompts), len(answers) - 1)])
        return [] if requested.prefix else words_of(text)

    return Parts(ScriptedGenerator(write), retriever=InMemoryRetriever({"lab": passages}))


def passages_in(ports: Parts) -> list[list[str]]:
    """Return the passages in the prompt of each generation."""
    titles = [(passage.id, passage.text) for passage in (*CLIFFS, LONDON)]
    return [
        [name for name, text in titles if text in request.prompt]
        for request in ports.generator.requests
    ]


async def test_an_answer_that_the_passages_have_is_accepted_after_one_search() -> None:
    ports = parts(IN_LONDON, passages=[LONDON])
    events = await ports.events(REQUEST)
    assert kinds(events) == [
        "AnswerStarted",
        "QueryBuilt",
        "PassagesRetrieved",
        "TokenDrafted",
        "SentenceJudged",
        "SentenceAccepted",
        "AnswerFinished",
    ]
    judged = only(SentenceJudged, events)[0]
    assert (judged.sentence, judged.trigger, judged.retrieving) == (0, None, False)
    answer = answer_in(events)
    assert (answer.text, answer.abstained) == (IN_LONDON, None)
    assert (answer.usage.retrievals, answer.usage.llm_calls) == (1, 1)


async def test_an_answer_that_a_pasted_text_has_is_accepted() -> None:
    ports = parts(IN_PARIS, passages=CLIFFS)
    pasted = f"{'Ada left Paris early. ' * 100}\nWhere was Ada born?"
    answer = answer_in(await ports.events(replace(REQUEST, question=pasted)))
    assert (answer.text, answer.abstained) == (IN_PARIS, None)
    assert answer.usage.retrievals == 1


@pytest.mark.parametrize("first", [IN_PARIS, UNKNOWN])
async def test_an_unsupported_answer_is_written_again_with_the_next_passages(first: str) -> None:
    ports = parts(first, IN_LONDON)
    events = await ports.events(REQUEST)
    judged = [event for event in events if isinstance(event, SentenceJudged)]
    assert [event.retrieving for event in judged] == [True, False]
    assert judged[0].abstains is (first == UNKNOWN)
    assert judged[1].trigger is None
    assert only(AnswerDrafted, events)[0].text == first
    second = [event for event in events if isinstance(event, PassagesRetrieved)][1]
    assert set(second.excluded_ids) == {"p0", "p1", "p2"}
    assert [passage.id for passage in second.passages] == ["p9"]
    assert passages_in(ports) == [["p0", "p1", "p2"], ["p0", "p1", "p2", "p9"]]
    answer = answer_in(events)
    assert (answer.text, answer.abstained) == (IN_LONDON, None)
    assert sentences_in(events) == [IN_LONDON]


@pytest.mark.parametrize(
    ("answers", "passages", "reason", "calls"),
    [
        ((IN_PARIS, IN_PARIS), (*CLIFFS, LONDON), UNSUPPORTED, 2),
        ((IN_PARIS, UNKNOWN), (*CLIFFS, LONDON), NOT_IN_DOCUMENTS, 2),
        ((UNKNOWN, IN_PARIS), (*CLIFFS, LONDON), UNSUPPORTED, 2),
        ((IN_PARIS,), CLIFFS, UNSUPPORTED, 1),
        ((UNKNOWN,), CLIFFS, NOT_IN_DOCUMENTS, 1),
    ],
)
async def test_an_answer_that_no_passage_has_is_not_given(
    answers: tuple[str, ...], passages: Sequence[Passage], reason: object, calls: int
) -> None:
    ports = parts(*answers, passages=passages)
    answer = answer_in(await ports.events(REQUEST))
    assert (answer.text, answer.abstained) == (answers[-1], reason)
    assert answer.usage.llm_calls == calls


async def test_without_a_second_retrieval_in_the_budget_the_first_answer_is_judged() -> None:
    ports = parts(IN_PARIS)
    request = replace(REQUEST, budget=BudgetLimits(max_retrievals=1))
    events = await ports.events(request)
    judged = only(SentenceJudged, events)[0]
    assert judged.trigger is not None
    assert not judged.retrieving
    assert answer_in(events).abstained == UNSUPPORTED


async def test_a_higher_theta_accepts_more_unsupported_words() -> None:
    ports = parts(IN_PARIS, passages=CLIFFS)
    lenient = PolicyRequest("verified", PolicyOverrides(theta=1.0))
    answer = answer_in(await ports.events(replace(REQUEST, policy=lenient)))
    assert (answer.text, answer.abstained) == (IN_PARIS, None)


@pytest.mark.parametrize("first", [" Yes.", " Probably abroad.", " Ada was born in Cliff."])
async def test_one_word_without_support_is_accepted_unless_it_is_a_value(first: str) -> None:
    ports = parts(first, passages=CLIFFS)
    answer = answer_in(await ports.events(REQUEST))
    withheld = first == " Probably abroad."
    assert answer.abstained == (UNSUPPORTED if withheld else None)
