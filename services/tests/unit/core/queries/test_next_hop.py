"""The query for what a question still asks for after passages are read."""

from scaar.core.queries import build_query
from scaar.core.types import Query, QueryRequest, QuerySettings, ReadPassage

QUESTION = "Where was the director of the film Nosferatu born?"
FILM = ReadPassage(
    "Nosferatu (1922 film)",
    "Nosferatu is a film directed by F. W. Murnau. It was shown on March 4, 1922, to Max Schreck.",
    rank=1,
)


def query(*read: ReadPassage, question: str = QUESTION, max_words: int = 64) -> Query:
    settings = QuerySettings("next_hop", include_question=False, max_words=max_words)
    return build_query(QueryRequest(question, settings, read=read))


def test_before_a_passage_is_read_the_query_is_the_question() -> None:
    assert query() == Query(QUESTION, "next_hop", fell_back=True)


def test_words_of_the_question_that_no_title_has_weigh_twice_as_much_as_names_read() -> None:
    # "film" and "Nosferatu" are in the title; the date has digits, and "It" begins a sentence.
    uncovered = ["Where", "was", "the", "director", "of", "the", "born?"]
    twice = [word for word in uncovered for _ in range(2)]
    assert query(FILM).text.split() == [*twice, "F.", "W.", "Murnau", "Max", "Schreck"]


def test_names_are_those_of_every_passage_read_once() -> None:
    other = ReadPassage("F. W. Murnau", "F. W. Murnau was born in Bielefeld to Max Plumpe.", rank=1)
    words = query(FILM, other).text.split()
    assert words[-4:] == ["Max", "Schreck", "Bielefeld", "Plumpe"]
    assert "Murnau" not in words, "the second title"


def test_a_script_without_capitals_has_the_words_of_the_question_only() -> None:
    read = ReadPassage("诺斯费拉图", "诺斯费拉图由茂瑙执导。", rank=1)
    assert query(read, question="导演在哪里出生？").text == "导导演演在在哪哪里里出出生？生？"


def test_the_question_comes_first_within_the_maximum() -> None:
    assert query(FILM, max_words=15).text.endswith("born? born? F.")
