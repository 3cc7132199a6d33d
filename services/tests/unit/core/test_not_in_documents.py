"""Answers of a model that says that the passages do not contain the answer."""

import pytest

from scaar.core.prompts.instruct import REFUSAL
from scaar.core.types import (
    NOT_IN_DOCUMENTS,
    AnswerEnd,
    AnswerRequest,
    GenerateRequest,
    PolicyRequest,
    SentenceRegenerated,
)
from scaar.testing.fakes import Piece

from .scripted import BORN_IN_LONDON, BORN_IN_PARIS, QUESTION, answer_in, only, parts, words_of

MORE = " Ada may be from Paris."


def refusing(requested: GenerateRequest) -> list[Piece]:
    """Return a draft from memory, and a refusal with an explanation from passages."""
    text = f" {REFUSAL}{MORE}" if "[1]" in requested.prompt else BORN_IN_PARIS
    return words_of(text, ["Paris."]) if not requested.prefix else []


def asking(policy: str, profile: str = "instruct") -> AnswerRequest:
    return AnswerRequest(QUESTION, PolicyRequest(policy), prompt_profile=profile)


@pytest.mark.parametrize("policy", ["scaar", "flare", "single_round", "fixed_sentence", "ircot"])
async def test_a_refusal_ends_the_answer_and_is_its_abstention(policy: str) -> None:
    answer = answer_in(await parts(refusing).events(asking(policy)))
    assert answer.abstained == NOT_IN_DOCUMENTS
    assert answer.text == f" {REFUSAL}"
    assert (answer.answer, answer.end) == ("", AnswerEnd.END_OF_SEQUENCE)
    assert answer.usage.retrievals == 1


async def test_a_refusal_of_windows_is_recognised_as_a_whole() -> None:
    answer = answer_in(await parts(refusing).events(asking("fixed_length")))
    assert answer.abstained == NOT_IN_DOCUMENTS
    assert "So the answer is" not in answer.text


async def test_the_draft_that_the_refusal_replaces_is_in_the_events() -> None:
    (event,) = only(SentenceRegenerated, await parts(refusing).events(asking("scaar")))
    assert (event.draft, event.text) == (BORN_IN_PARIS, f" {REFUSAL}")


async def test_a_later_sentence_may_refuse_too() -> None:
    texts = {"": f"{BORN_IN_LONDON} {REFUSAL}", BORN_IN_LONDON: f" {REFUSAL}"}

    def script(requested: GenerateRequest) -> list[Piece]:
        return words_of(texts.get(requested.prefix, ""))

    answer = answer_in(await parts(script).events(asking("ircot")))
    assert answer.abstained == NOT_IN_DOCUMENTS
    assert answer.text == f"{BORN_IN_LONDON} {REFUSAL}"


async def test_without_such_an_instruction_the_sentence_is_ordinary_text() -> None:
    answer = answer_in(await parts(refusing).events(asking("single_round", "scaar")))
    assert answer.abstained is None
    assert answer.text.startswith(f" {REFUSAL}{MORE} So the answer is")


async def test_an_answer_that_is_given_has_no_abstention() -> None:
    def script(requested: GenerateRequest) -> list[Piece]:
        return words_of(BORN_IN_LONDON) if not requested.prefix else []

    answer = answer_in(await parts(script).events(asking("single_round")))
    assert answer.abstained is None
    assert answer.text.startswith(f"{BORN_IN_LONDON} So the answer is")
