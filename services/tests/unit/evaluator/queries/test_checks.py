"""Whether recall can be measured is checked before any work."""

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.evaluator.records import Question
from scaar.evaluator.studies.queries.checks import check_ids, check_supports, probe_index
from scaar.testing.fakes import InMemoryRetriever

QUESTIONS = [
    Question(name, f"Who made {name}?", ("Ann",), name, supports=(f"film-{name}", "by-Ann"))
    for name in ("Amber", "Ochre")
]


def retriever(*ids):
    return InMemoryRetriever({"films": [Passage(each, "", "Who made Ochre? Ann.") for each in ids]})


def refused(error):
    (violation,) = error.value.violations
    return violation.field, violation.description


async def test_an_index_is_accepted_if_a_question_finds_one_of_its_supports():
    await probe_index(retriever("other", "film-Ochre"), "films", QUESTIONS)


async def test_an_index_in_which_no_question_finds_its_own_names_the_first():
    with pytest.raises(InvalidRequest) as error:
        await probe_index(retriever("1", "2"), "films", QUESTIONS)
    field, message = refused(error)
    assert field == "--index"
    assert "none of the first 2 questions" in message
    assert "'Amber' does not find 'film-Amber'" in message


def test_an_index_that_lacks_a_support_names_it_and_how_many():
    check_ids(QUESTIONS, frozenset({"film-Amber", "film-Ochre", "by-Ann"}), index="films")
    with pytest.raises(InvalidRequest) as error:
        check_ids(QUESTIONS, frozenset({"film-Amber"}), index="films")
    field, message = refused(error)
    assert field == "--index"
    assert "'films' lacks 2 of the 3 supports" in message
    assert message.endswith("the first 'by-Ann'")


def test_a_question_without_supports_is_named():
    check_supports(QUESTIONS)
    with pytest.raises(InvalidRequest) as error:
        check_supports([*QUESTIONS, Question("bare", "Who?", ("A",), "bare")])
    field, message = refused(error)
    assert field == "--dataset"
    assert "1 of 3 questions have no supports, the first 'bare'" in message
