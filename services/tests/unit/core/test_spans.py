"""Value spans: names, dates and numbers, from capitals, digits and tags."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.spans import value_spans
from scaar.core.text.word_classes import tags_of


def spans(sentence: str, *, tagged: bool = False) -> list[str]:
    words = sentence.split()
    found = value_spans(words, tags_of(words) if tagged else None)
    return [" ".join(words[start:end]) for start, end in found]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The film Silent Harbour was made.", ["Silent Harbour"]),
        ("Anna Kowalski was born on May 12, 1990.", ["Anna Kowalski", "May 12, 1990."]),
        ("He died on 30 July 1970 in London, England.", ["30 July 1970", "London,", "England."]),
        ("It is J. R. R. Tolkien's Hobbit.", ["J. R. R. Tolkien's", "Hobbit."]),
        ("The Lord of the Rings has won.", ["The Lord of the Rings"]),
        ("In 1990 he moved to York (UK).", ["1990", "York", "(UK)."]),
        ("The years are 1990 of Ada and 1985.", ["1990", "Ada", "1985."]),
        ('He is Ludwig van Beethoven of "The Times"', ["Ludwig van Beethoven", '"The Times"']),
        ("彼は 東京 で 1990年 に", ["1990年"]),
        ("nothing here", []),
    ],
)
def test_a_span_is_a_whole_name_date_or_number(sentence: str, expected: list[str]) -> None:
    assert spans(sentence) == expected


def test_the_first_word_is_a_name_by_its_tag_alone() -> None:
    sentence = "Nolan was born in London."
    assert spans(sentence) == ["London."]
    assert spans(sentence, tagged=True) == ["Nolan", "London."]
    assert spans("Born in London, he left.", tagged=True) == ["London,"]


def test_the_tag_of_a_number_word_makes_it_a_value() -> None:
    assert spans("The film won seven awards.") == []
    assert spans("The film won seven awards.", tagged=True) == ["seven"]


@given(st.lists(st.text(min_size=1).filter(lambda word: not any(map(str.isspace, word)))))
def test_spans_are_in_order_within_the_sentence_and_start_and_end_with_a_value(
    words: list[str],
) -> None:
    found = value_spans(words)
    ends = [position for span in found for position in span]
    assert ends == sorted(ends)
    assert all(0 <= start < end <= len(words) for start, end in found)
