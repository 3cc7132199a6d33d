"""The layout of instruct models."""

import pytest

from scaar.core.prompts import profile_of
from scaar.core.prompts.conclusion import concludes
from scaar.core.prompts.instruct import ABSTENTION
from scaar.core.text.sentences import split_sentences
from scaar.core.types import AnswerForm

from .test_prompts import passages

INSTRUCT = profile_of("instruct")
QUESTION = "Where was Ann Lee born?"


def test_what_precedes_the_passages_is_the_prompt_of_a_draft() -> None:
    draft = INSTRUCT.render(QUESTION)
    asked = f"\n\nQuestion: {QUESTION}"
    assert asked in draft
    for texts in (["Ann Lee was born in Graz."], ["Graz is old.", "Ann Lee is a poet."]):
        prompt = INSTRUCT.render(QUESTION, passages(*texts))
        common = draft[: draft.index(asked) + len(asked)]
        assert prompt.startswith(common)
        assert all(text in prompt.removeprefix(common) for text in texts)
        assert prompt.endswith(f"\n\nQuestion: {QUESTION}")


def test_the_model_reads_how_to_abstain_without_passages_only() -> None:
    # With passages, a small model writes it whatever they say.
    assert INSTRUCT.render(QUESTION).endswith(ABSTENTION)
    assert ABSTENTION not in INSTRUCT.render(QUESTION, passages("Graz is old."))


def test_the_abstention_is_one_sentence_that_does_not_conclude() -> None:
    assert split_sentences(ABSTENTION) == (ABSTENTION,)
    assert not concludes(ABSTENTION)


@pytest.mark.parametrize(
    "text",
    [
        ABSTENTION,
        f" {ABSTENTION}",
        ABSTENTION.upper(),
        ABSTENTION.removesuffix("."),
        f'"{ABSTENTION}"',
        "I do not know where Ann Lee was born.",
        "I don\u2019t know.",
        f"**{ABSTENTION}**",
        f"{ABSTENTION.removesuffix('.')}, but Graz is a city.",
        f"The answer is: {ABSTENTION}",
    ],
)
def test_an_abstention_is_recognised_by_its_words(text: str) -> None:
    assert INSTRUCT.abstains(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann Lee was born in Graz.",
        "I know the answer.",
        f"No. {ABSTENTION}",
        "She said: I don't know why.",
    ],
)
def test_other_texts_are_no_abstention(text: str) -> None:
    assert not INSTRUCT.abstains(text)


def test_no_text_is_an_abstention_for_other_profiles() -> None:
    assert not profile_of("scaar").abstains(ABSTENTION)
    assert not profile_of("scaar").abstains("")


def test_text_of_the_application_follows_that_of_the_profile() -> None:
    own = INSTRUCT.system
    assert INSTRUCT.with_system("Be brief.").system == f"{own}\n\nBe brief."
    assert profile_of("scaar").with_system("Be brief.").system == "Be brief."


def test_a_short_answer_is_requested_before_the_question() -> None:
    short = INSTRUCT.in_form(AnswerForm.SHORT)
    assert "So the answer is" in short.system
    assert "So the answer is" not in INSTRUCT.render(QUESTION, passages("Graz is old."))
    assert profile_of("scaar").in_form(AnswerForm.SHORT) == profile_of("scaar")


def test_of_a_long_question_what_it_asks_follows_the_passages() -> None:
    long = f"{'Ann wrote a poem. ' * 200}\n{QUESTION}"
    prompt = INSTRUCT.render(long, passages("Graz is old."))
    assert prompt.count("Ann wrote a poem.") == 200
    assert prompt.endswith(f"[1] Graz is old.\n\nQuestion: {QUESTION}")
