from scaar.core.types import PolicyRequest
from scaar.evaluator.records import Question, Setting
from scaar.evaluator.statistics.groups import breakdowns

from ..simulated import table_of

SETTING = (Setting("s", PolicyRequest("scaar")),)


def _labelled(number: int, **labels: str) -> Question:
    return Question(f"q{number:03d}", "Who?", ("A",), "e", tuple(labels.items()))


def test_every_label_breaks_the_questions_down_by_its_values() -> None:
    questions = (
        _labelled(1, kind="two", year="1"),
        _labelled(2, kind="one"),
        _labelled(3, kind="two", year="2"),
    )
    found = {
        each.label: {group.value: [q.id for q in group.table.questions] for group in each.groups}
        for each in breakdowns(table_of(questions, SETTING, ()))
    }
    assert found == {
        "kind": {"one": ["q002"], "two": ["q001", "q003"]},
        "year": {"1": ["q001"], "2": ["q003"]},
    }


def test_numbers_in_values_are_ordered_as_numbers() -> None:
    ranks = ("tail", "201 to 800", "1 to 50", "51 to 200")
    questions = tuple(_labelled(number, rank=each) for number, each in enumerate(ranks))
    (found,) = breakdowns(table_of(questions, SETTING, ()))
    assert [each.value for each in found.groups] == ["1 to 50", "51 to 200", "201 to 800", "tail"]


def test_questions_without_labels_are_not_broken_down() -> None:
    assert breakdowns(table_of((_labelled(1),), SETTING, ())) == ()


def test_a_label_with_too_many_values_is_named_and_not_broken_down() -> None:
    questions = tuple(_labelled(number, views=str(number)) for number in range(61))
    (found,) = breakdowns(table_of(questions, SETTING, ()))
    assert (found.label, found.values, found.groups) == ("views", 61, ())
