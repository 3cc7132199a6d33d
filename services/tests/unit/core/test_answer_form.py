"""The two forms of an answer: with a conclusion, and the text as the model writes it."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.prompts import PROFILES
from scaar.core.types import (
    AnswerEnd,
    AnswerForm,
    AnswerRequest,
    AnswerStarted,
    PolicyRequest,
    SentenceJudged,
)
from scaar.testing.fakes import SCRIPTED_MODEL, ScriptedGenerator

from .scripted import (
    ASKING,
    BORN_IN_LONDON,
    BORN_IN_PARIS,
    QUESTION,
    SO_LONDON,
    SO_PARIS,
    Parts,
    answer_in,
    model,
    only,
    parts,
    sentences_in,
)

KNOWN = " He was a poet."
ON_AND_ON = {
    "": BORN_IN_PARIS + SO_PARIS + KNOWN,
    BORN_IN_PARIS: SO_PARIS + KNOWN,
    BORN_IN_PARIS + SO_PARIS: KNOWN,
    BORN_IN_LONDON: SO_LONDON + KNOWN,
    BORN_IN_LONDON + SO_LONDON: KNOWN,
}
"""Drafts in which a sentence follows the one with the answer phrase."""
FROM_PASSAGES = {**ON_AND_ON, "": BORN_IN_LONDON + SO_LONDON + KNOWN}


def requesting(
    policy: str = "no_retrieval", *, profile: str = "scaar", form: AnswerForm = AnswerForm.TEXT
) -> AnswerRequest:
    request = AnswerRequest(QUESTION, PolicyRequest(policy), prompt_profile=profile)
    return replace(request, answer=form)


@pytest.mark.parametrize("policy", ["no_retrieval", "single_round", "fixed_sentence", "scaar"])
async def test_a_text_has_neither_a_forced_phrase_nor_a_short_answer(policy: str) -> None:
    ada = model({"": BORN_IN_PARIS, BORN_IN_PARIS: ""}, {"": BORN_IN_PARIS, BORN_IN_PARIS: ""})

    answer = answer_in(await parts(ada).events(requesting(policy)))

    assert (answer.text, answer.answer) == (BORN_IN_PARIS, "")
    assert answer.shown == BORN_IN_PARIS.strip()
    assert answer.end is AnswerEnd.END_OF_SEQUENCE
    assert not any(sentence.concluding for sentence in answer.sentences)


@pytest.mark.parametrize("policy", ["no_retrieval", "single_round", "fixed_sentence", "ircot"])
async def test_the_answer_phrase_does_not_end_a_text(policy: str) -> None:
    events = await parts(model(ON_AND_ON, FROM_PASSAGES)).events(requesting(policy))

    born = BORN_IN_PARIS if policy == "no_retrieval" else BORN_IN_LONDON
    so = SO_PARIS if policy == "no_retrieval" else SO_LONDON
    assert sentences_in(events) == [born, so, KNOWN]


async def test_a_sentence_of_a_text_with_the_answer_phrase_is_judged_like_any_other() -> None:
    events = await parts(model(ON_AND_ON)).events(requesting("flare"))

    judged = [event.text for event in only(SentenceJudged, events)]
    assert judged == [BORN_IN_PARIS, SO_PARIS, KNOWN]


async def test_a_model_that_writes_nothing_gives_an_empty_text() -> None:
    answer = answer_in(await parts(model({"": ""})).events(requesting()))

    assert (answer.text, answer.shown, answer.sentences) == ("", "", ())


@pytest.mark.parametrize("profile", ["lab", "lab_chat"])
async def test_a_model_that_was_trained_to_conclude_does_so_in_a_text_too(profile: str) -> None:
    short, text = [
        answer_in(await parts(model()).events(requesting(profile=profile, form=form)))
        for form in AnswerForm
    ]

    assert short == text
    assert text.sentences[-1].concluding


async def test_the_text_between_the_tags_of_an_answer_is_no_short_answer_of_a_text() -> None:
    answer = answer_in(await parts(ASKING).events(requesting("model_asks")))

    assert (answer.text, answer.answer) == ("London", "")


async def test_a_text_is_concluded_only_by_models_that_were_trained_to() -> None:
    texts = [each.in_form(AnswerForm.TEXT) for each in PROFILES.values()]

    assert all(each.in_form(AnswerForm.SHORT).concluding for each in PROFILES.values())
    assert {each.name for each in texts if each.concluding} == {"lab", "lab_chat", "lab_search"}


@pytest.mark.parametrize(
    ("policy", "form", "profile", "expected"),
    [
        ("no_retrieval", AnswerForm.TEXT, "", "plain@1"),
        ("no_retrieval", AnswerForm.SHORT, "", "instruct@1"),
        ("no_retrieval", AnswerForm.TEXT, "instruct", "instruct@1"),
        ("flare", AnswerForm.TEXT, "", "instruct@1"),
    ],
)
async def test_an_instruct_model_alone_is_asked_without_instructions(
    policy: str, form: AnswerForm, profile: str, expected: str
) -> None:
    ada = ScriptedGenerator(
        model({"": BORN_IN_PARIS, BORN_IN_PARIS: SO_PARIS}),
        model=replace(SCRIPTED_MODEL, prompt_profile="instruct"),
    )
    request = requesting(policy, profile=profile, form=form)
    async with aclosing(Parts(ada).loop().stream_answer(request)) as events:
        started = await anext(events)
        assert isinstance(started, AnswerStarted)
        assert started.provenance.prompt_profile == expected
        await anext(events)
    assert (ada.requests[0].prompt == QUESTION) == (expected == "plain@1")
