import pytest

from scaar.core.text.new_words import new_words
from scaar.core.text.words import split_words

PASSAGE = "Munin. The hosts open port 4949, and the centre lists what each node allows. 4GiB."


def unsupported(answer: str, question: str = "Which port do hosts open?") -> list[str]:
    words = split_words(answer)
    found = new_words(words, answer, question, [PASSAGE])
    return [words[word.at].text for word in found if not word.supported]


@pytest.mark.parametrize(
    ("answer", "without"),
    [
        ("The hosts open port 4949.", []),
        ("Hosts OPEN Port «4949».", []),
        ("The hosts open port 22.", ["22."]),
        ("The node allowed a listing.", ["listing."]),
        ("According to the passages, it lists 4 GiB.", []),
        ("The center [1] lists nodes [12].", []),
        ("The centre's node is Ada.", ["Ada."]),
        ("The cents note it.", ["cents", "note"]),
        ("", []),
        ("… —", []),
    ],
)
def test_a_word_that_neither_question_nor_passage_has_is_unsupported(
    answer: str, without: list[str]
) -> None:
    assert unsupported(answer) == without


def test_words_of_the_question_are_not_new() -> None:
    answer = "Die Meldungen gehen an local7."
    words = split_words(answer)
    found = new_words(words, answer, "Wohin gehen Meldungen?", ["Sie gehen an local7."])
    assert [(words[word.at].text, word.supported) for word in found] == [("local7.", True)]


@pytest.mark.parametrize(("letters", "supported"), [(60, True), (61, False), (20_000, False)])
def test_long_words_are_the_same_only_if_they_are_equal(letters: int, supported: bool) -> None:
    answer, passage = "a" * (letters - 1) + "b", "a" * (letters - 1) + "c"
    words = split_words(answer)
    assert [word.supported for word in new_words(words, answer, "?", [passage])] == [supported]
    assert new_words(words, answer, "?", [answer])[0].supported


def test_without_passages_every_new_word_counts() -> None:
    answer = "Ada met Byron."
    words = split_words(answer)
    found = new_words(words, answer, "Whom did the countess meet?", [])
    assert [(words[word.at].text, word.supported) for word in found] == [("Byron.", False)]


def test_numbers_and_code_are_values() -> None:
    answer = "The module `sys.exit` runs 2 times."
    words = split_words(answer)
    found = new_words(words, answer, "Which module?", [])
    values = [words[word.at].text for word in found if word.is_value]
    assert values == ["`sys.exit`", "2"]


def test_ideographs_are_words() -> None:
    answer = "版本是七。"
    words = split_words(answer)
    found = new_words(words, answer, "哪个版本?", ["版本八。"])
    assert [words[word.at].text for word in found if not word.supported] == ["是", "七。"]


LEAVE = "Annual leave is 28 days a year. It must be taken by March."


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        ("Der Urlaub dauert 28 Werktage im Jahr.", [("28", True)]),
        ("Der Urlaub dauert 30 Werktage im Jahr.", [("30", False)]),
        ("Der Urlaub beginnt in Bremen mit `days`.", [("`days`.", True)]),
    ],
)
def test_of_an_answer_in_another_language_than_the_passages_only_numbers_and_code_count(
    answer: str, counted: list[tuple[str, bool]]
) -> None:
    words = split_words(answer)
    found = new_words(words, answer, "Wie lange dauert der Urlaub?", [LEAVE])
    assert [(words[word.at].text, word.supported) for word in found] == counted


@pytest.mark.parametrize(
    ("answer", "question", "passage", "without"),
    [
        ("灯塔由李明建造。", "谁建造了灯塔？", "灯塔由玛尔塔建造。", ["李", "明"]),
        ("灯台は1874年に建てられました。", "灯台は?", "灯台は1874年に建てた。", []),
        ("ประภาคารนี้สร้างขึ้นในปี 1875", "ใครสร้างประภาคาร", "สร้างขึ้นในปี 1874", ["1875"]),
    ],
)
def test_scripts_without_spaces_are_judged_as_far_as_they_have_words(
    answer: str, question: str, passage: str, without: list[str]
) -> None:
    words = split_words(answer)
    found = new_words(words, answer, question, [passage])
    assert [words[word.at].text.rstrip("。") for word in found if not word.supported] == without
