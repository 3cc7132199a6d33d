"""Which texts are questions, and what long ones ask."""

import pytest

from scaar.core.text.questions import is_long, is_question, searched_question


@pytest.mark.parametrize(
    "text",
    [
        "Where was Ada born?",
        "where was Ada born",
        "In which year was Ada born?",
        "Is Ada a poet",
        '"Who wrote the notes?"',
        "Wann wurde Ada geboren",
        "In welchem Jahr wurde Ada geboren?",
        "¿En qué año nació Ada?",
        "Dónde nació Ada",
        "艾达出生在哪里？",
        "谁写了这本书",
        "这本书的作者是谁",
        "艾达是诗人吗。",
        "アダはどこで生まれましたか。",
        "なぜアダは有名なのでしょう",
    ],
)
def test_a_text_with_a_question_mark_or_a_question_word_is_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ada was born in London.",
        "Tell me more about Ada.",
        "Howard wrote it",
        "Ada wurde in London geboren.",
        "Que Ada nació en Londres es cierto.",
        "艾达出生在伦敦。",
        "アダはロンドンで生まれました。",
    ],
)
def test_another_text_is_none(text: str) -> None:
    assert not is_question(text)


PASTED = "\n".join(["Ada wrote notes about the engine. Did she write them alone? She did."] * 60)
ASKED = "Where was Ada born?"


@pytest.mark.parametrize("text", ["", ASKED, "word " * 128, "x" * 1_024, f"{ASKED}\n\nThanks"])
def test_a_short_message_is_searched_for_as_it_is(text: str) -> None:
    assert not is_long(text)
    assert searched_question(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"{ASKED}\n\n{PASTED} Thanks.",
        f"Read this.\n{PASTED}\n\n{ASKED}\n",
        f"I have this text. {ASKED}\n{PASTED} Thanks.",
        f"### Task:\nAnswer. Who asks?\n<context>\n{PASTED}\n</context>\n\n{ASKED}",
    ],
)
def test_the_question_in_the_first_or_the_last_line_of_a_long_message_is_searched_for(
    text: str,
) -> None:
    found = searched_question(text)
    assert ASKED in found
    assert "Who asks?" not in found
    assert found.count("Did she write them alone?") <= 1


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        (f"Summarize.\n{PASTED}\nThe end.", "Summarize. Ada", "The end."),
        ("word " * 5_000 + "last", "word", "last"),
        ("字" * 5_000, "字", "字"),
        ("x" * 131_072, "x", "x"),
        ("Why? " * 5_000, "Why?", "Why?"),
    ],
)
def test_of_a_long_message_without_a_question_its_ends_are_searched_for(
    text: str, start: str, end: str
) -> None:
    found = searched_question(text)
    assert not is_long(found)
    assert found.startswith(start)
    assert found.endswith(end)
