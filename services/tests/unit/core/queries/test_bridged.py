"""Names of the passages that an answer has read, in the query for its next sentence."""

from dataclasses import replace

import pytest

from scaar.core.queries import build_query
from scaar.core.types import JudgedWord, QueryRequest, QuerySettings, ReadPassage, RetrievedPassage
from scaar.core.types.queries import MAX_READ_CHARACTERS, MAX_READ_PASSAGES

QUESTION = "Where was the director of the film Nosferatu born?"
DRAFT = (("Fritz", 0.4, True), ("was", 0.0, False), ("born", 0.3, False), ("in", 0.0, False))
FILM = ReadPassage(
    "Nosferatu (1922 film)",
    "Nosferatu is a film directed by F. W. Murnau. It was shown on March 4, 1922, to Max Schreck.",
    rank=2,
)
OTHER = ReadPassage("Metropolis", "Metropolis was directed by Fritz Lang.", rank=1)


def request(
    *read: ReadPassage, include_question: bool = False, max_words: int = 64
) -> QueryRequest:
    words = tuple(
        JudgedWord(text, 0, len(text), None, 0.8, uncertain=uncertain, contribution=contribution)
        for text, contribution, uncertain in DRAFT
    )
    settings = QuerySettings("bridged", include_question, alpha=50.0, max_words=max_words)
    return QueryRequest(QUESTION, settings, words, read=read)


def test_without_a_passage_the_query_is_that_of_pfq() -> None:
    pfq = replace(request(), settings=replace(request().settings, formulation="pfq"))
    assert replace(build_query(request()), formulation="pfq") == build_query(pfq)


def test_names_come_from_the_passages_whose_title_is_in_the_question() -> None:
    query = build_query(request(OTHER, FILM))
    # "Nosferatu" is in the question, the date has digits, and "It" only begins a sentence.
    assert query.text == "born F. W. Murnau Max Schreck"
    assert query.kept == (2,)


def test_without_such_a_title_names_come_from_the_best_passage_of_each_retrieval() -> None:
    film, third = replace(FILM, title="A symphony of horror"), ReadPassage("", "It is by Bram.", 3)
    assert build_query(request(OTHER, film, third)).text == "born Fritz Lang"


@pytest.mark.parametrize("title", ["", "()", " ", "Nosferatu the Vampyre", "tu"])
def test_a_title_is_in_the_question_as_whole_words_in_a_row(title: str) -> None:
    only = replace(FILM, title=title)
    assert build_query(request(only)).text == "born"


@pytest.mark.parametrize("title", ["NOSFERATU", "“Nosferatu”", "The film Nosferatu (1922)"])
def test_case_punctuation_and_a_qualifier_of_a_title_do_not_count(title: str) -> None:
    assert build_query(request(replace(FILM, title=title))).text == "born F. W. Murnau Max Schreck"


def test_the_question_and_the_draft_come_first_within_the_maximum() -> None:
    query = build_query(request(FILM, include_question=True, max_words=12))
    assert query.text == f"{QUESTION} born F. W."


def test_the_newest_passages_are_read_each_cut() -> None:
    found = [
        RetrievedPassage(f"p{at}", "Title", "a" * (MAX_READ_CHARACTERS + at), 0.5, at)
        for at in range(MAX_READ_PASSAGES + 2)
    ]
    read = ReadPassage.newest(found)
    assert [each.rank for each in read] == list(range(2, MAX_READ_PASSAGES + 2))
    assert {each.text for each in read} == {"a" * MAX_READ_CHARACTERS}
