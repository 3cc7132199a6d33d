"""Answers of a model that says that it does not know."""

from dataclasses import replace

import pytest

from scaar.core.prompts.instruct import ABSTENTION
from scaar.core.types import (
    NOT_IN_DOCUMENTS,
    AnswerEnd,
    AnswerRequest,
    BudgetLimits,
    GenerateRequest,
    PolicyRequest,
    QueryBuilt,
    SentenceJudged,
    SentenceRegenerated,
)
from scaar.testing.fakes import Piece

from .scripted import BORN_IN_LONDON, BORN_IN_PARIS, QUESTION, answer_in, only, parts, words_of

MORE = " Ada may be from Paris."


def abstaining(requested: GenerateRequest) -> list[Piece]:
    """Return a draft from memory, and an abstention with an explanation from passages."""
    text = f" {ABSTENTION}{MORE}" if "[1]" in requested.prompt else BORN_IN_PARIS
    return words_of(text, ["Paris."]) if not requested.prefix else []


def asking(policy: str, profile: str = "instruct") -> AnswerRequest:
    return AnswerRequest(QUESTION, PolicyRequest(policy), prompt_profile=profile)


@pytest.mark.parametrize("policy", ["scaar", "flare", "single_round", "fixed_sentence", "ircot"])
async def test_an_abstention_ends_the_answer(policy: str) -> None:
    answer = answer_in(await parts(abstaining).events(asking(policy)))
    assert answer.abstained == NOT_IN_DOCUMENTS
    assert answer.text == f" {ABSTENTION}"
    assert (answer.answer, answer.end) == ("", AnswerEnd.END_OF_SEQUENCE)
    assert answer.usage.retrievals == 1


async def test_an_abstention_in_windows_is_recognised_as_a_whole() -> None:
    answer = answer_in(await parts(abstaining).events(asking("fixed_length")))
    assert answer.abstained == NOT_IN_DOCUMENTS
    assert "So the answer is" not in answer.text


async def test_the_draft_that_the_abstention_replaces_is_in_the_events() -> None:
    (event,) = only(SentenceRegenerated, await parts(abstaining).events(asking("scaar")))
    assert (event.draft, event.text) == (BORN_IN_PARIS, f" {ABSTENTION}")


async def test_a_later_sentence_may_abstain_too() -> None:
    texts = {"": f"{BORN_IN_LONDON} {ABSTENTION}", BORN_IN_LONDON: f" {ABSTENTION}"}

    def script(requested: GenerateRequest) -> list[Piece]:
        return words_of(texts.get(requested.prefix, ""))

    answer = answer_in(await parts(script).events(asking("ircot")))
    assert answer.abstained == NOT_IN_DOCUMENTS
    assert answer.text == f"{BORN_IN_LONDON} {ABSTENTION}"


async def test_without_such_an_instruction_the_sentence_is_ordinary_text() -> None:
    answer = answer_in(await parts(abstaining).events(asking("single_round", "scaar")))
    assert answer.abstained is None
    assert answer.text.startswith(f" {ABSTENTION}{MORE} So the answer is")


async def test_an_answer_that_is_given_has_no_abstention() -> None:
    def script(requested: GenerateRequest) -> list[Piece]:
        return words_of(BORN_IN_LONDON) if not requested.prefix else []

    answer = answer_in(await parts(script).events(asking("single_round")))
    assert answer.abstained is None
    assert answer.text.startswith(f"{BORN_IN_LONDON} So the answer is")


def knowing_nothing(requested: GenerateRequest) -> list[Piece]:
    """Return a certain abstention from memory, and an answer from passages."""
    text = BORN_IN_LONDON if "[1]" in requested.prompt else f" {ABSTENTION}"
    return words_of(text) if not requested.prefix else []


@pytest.mark.parametrize("policy", ["scaar", "flare"])
async def test_a_draft_that_abstains_retrieves_for_the_question(policy: str) -> None:
    events = await parts(knowing_nothing).events(asking(policy))
    (judged,) = only(SentenceJudged, events)
    assert (judged.text, judged.trigger) == (f" {ABSTENTION}", None)
    assert (judged.abstains, judged.retrieving) == (True, True)
    (built,) = only(QueryBuilt, events)
    assert built.query.text == QUESTION
    answer = answer_in(events)
    assert answer.text.startswith(BORN_IN_LONDON)
    assert (answer.abstained, answer.usage.retrievals) == (None, 1)


async def test_without_a_retrieval_nothing_is_said_about_documents() -> None:
    request = replace(asking("flare"), budget=BudgetLimits(max_retrievals=0))
    events = await parts(knowing_nothing).events(request)
    (judged,) = only(SentenceJudged, events)
    assert (judged.abstains, judged.retrieving) == (True, False)
    answer = answer_in(events)
    assert (answer.text, answer.answer, answer.abstained) == (f" {ABSTENTION}", "", None)


async def test_an_abstention_after_passages_is_final() -> None:
    texts = {"": BORN_IN_PARIS, BORN_IN_LONDON: f" {ABSTENTION}"}

    def script(requested: GenerateRequest) -> list[Piece]:
        if "[1]" in requested.prompt and not requested.prefix:
            return words_of(f"{BORN_IN_LONDON} {ABSTENTION}")
        return words_of(texts.get(requested.prefix, ""), ["Paris."])

    events = await parts(script).events(asking("flare"))
    assert [judged.abstains for judged in only(SentenceJudged, events)] == [False, False]
    assert answer_in(events).abstained == NOT_IN_DOCUMENTS
