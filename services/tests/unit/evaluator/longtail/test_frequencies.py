import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.evaluator.studies.longtail.frequencies import corpus_frequencies, english_frequencies

PASSAGES = (Passage("p1", "Ada", "Ada wrote."), Passage("p2", "", "The Engine wrote; the end."))


def test_words_of_a_corpus_are_counted_once_more_than_they_are_met() -> None:
    counted = corpus_frequencies(PASSAGES, name="two passages")
    # Ada 2, wrote 2, the 2, engine 1, end 1: 8 words of 5 kinds, and one for what is unseen.
    assert counted.frequencies["ada"] == pytest.approx(3 / 14)
    assert counted.frequencies["engine"] == pytest.approx(2 / 14)
    assert counted.unseen == pytest.approx(1 / 14)
    assert sum(counted.frequencies.values()) + counted.unseen == pytest.approx(1.0)
    assert counted.average("ADA's engine") == pytest.approx((3 + 1 + 2) / 14 / 3)
    assert counted.rarest("Ada wrote") == pytest.approx(3 / 14)
    assert counted.average("?!") == counted.unseen


def test_other_passages_are_distinguished_and_no_passages_are_refused() -> None:
    one, other = (corpus_frequencies(PASSAGES[:at], name="passages").source for at in (1, 2))
    assert one != other
    with pytest.raises(InvalidRequest, match="--frequencies: nothing contains no word"):
        corpus_frequencies([], name="nothing")


def test_english_knows_common_words_and_counts_a_name_of_the_lab_as_rarest() -> None:
    english = english_frequencies()
    assert english.frequencies["the"] > english.frequencies["director"] > english.unseen
    assert english.rarest("the Zqxvordan") == english.unseen
    assert "wordfreq" in english.source
