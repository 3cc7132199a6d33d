"""The rule on script and stop words, on texts of every language that docs/languages.md names."""

import pytest

from scaar.core.text.english import other_language

ENGLISH = (
    "Parental leave is granted to every employee who has worked for the company for at least six "
    "months. It can be taken in one piece or in two, and the manager must know four weeks "
    "before it begins."
)
GERMAN = (
    "Elternzeit erhalten alle Angestellten, die mindestens sechs Monate im Unternehmen gearbeitet "
    "haben. Sie kann am Stück oder in zwei Teilen genommen werden, und die Vorgesetzten müssen "
    "vier Wochen vor dem Beginn davon erfahren. Was danach in den Akten steht, entscheidet das Amt."
)
SPANISH = (
    "La licencia parental se concede a todas las personas que han trabajado en la empresa al menos "
    "seis meses. Se puede tomar de una vez o en dos partes, y hay que avisar a la persona "
    "responsable cuatro semanas antes de que comience."
)


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH,
        "Who directed the film The Haunted Fountain?",
        "Müller 1974, Köln",
        "",
        "1, 2, 3",
        "Wie lange dauert die Elternzeit?",
    ],
)
def test_english_and_short_latin_texts_are_no_evidence(text: str) -> None:
    assert other_language(text) == ""


@pytest.mark.parametrize("text", [GERMAN, SPANISH])
def test_a_long_text_without_english_stop_words_is_evidence(text: str) -> None:
    assert "words are English stop words" in other_language(text)


@pytest.mark.parametrize(
    "text", ["谁导演了这部关于喷泉的电影？", "映画の監督は誰ですか、教えて", "Кто снял фильм?"]
)
def test_another_script_is_evidence_in_a_short_text_too(text: str) -> None:
    assert "letters are not Latin" in other_language(text)
