import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.retriever.corpus.splitter import split_document


@given(st.lists(st.sampled_from(["a", "bc", "d\n", "\te"])), st.integers(1, 5))
def test_every_word_is_in_one_passage_in_order(written: list[str], words: int) -> None:
    document = Passage("d", "T", " ".join(written))
    passages = list(split_document(document, words=words))
    assert [word for each in passages for word in each.text.split()] == document.text.split()
    assert all(len(each.text.split()) == words for each in passages[:-1])
    assert [each.id for each in passages] == [f"d-{n}" for n in range(1, len(passages) + 1)]
    assert {each.title for each in passages} <= {"T"}


def test_passages_have_100_words() -> None:
    first, second = split_document(Passage("d", "T", "word " * 150))
    assert (len(first.text.split()), len(second.text.split())) == (100, 50)


def test_an_id_without_room_for_a_number_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"id: 'x+'\.\.\. must leave room for -1 in 512"):
        list(split_document(Passage("x" * 511, "", "word")))
