"""Which texts are questions."""

import pytest

from scaar.core.text.questions import is_question


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
