import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.retriever.local.analysis import EnglishAnalyzer, indexed_text
from scaar.retriever.local.tokens import MAX_TOKEN_CHARACTERS, words_of

# What org.apache.lucene.analysis.en.EnglishAnalyzer of Lucene 9.12.1 makes of each text.
LUCENE = [
    json.loads(line)
    for line in Path(__file__).with_name("lucene_english.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("case", LUCENE, ids=[case["text"][:30] for case in LUCENE])
def test_terms_are_those_of_lucenes_english_analyzer(case: dict[str, object]) -> None:
    assert EnglishAnalyzer().terms(str(case["text"])) == case["terms"]


def test_a_passage_is_indexed_by_title_and_text() -> None:
    assert indexed_text("Etna", "A volcano.") == "Etna A volcano."


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["_", "a", "a.", "1,", "a_", "_\u0301", "\u0301", "'", "👍\u200d", "\u200b", 'א"', "ไ"]
)
def test_the_time_for_a_megabyte_of_anything_is_linear(unit: str) -> None:
    started = time.process_time()
    for _ in words_of(unit * (1_000_000 // len(unit))):
        pass
    assert time.process_time() - started < 5


@given(st.text())
def test_words_are_in_the_order_of_the_text(text: str) -> None:
    position = 0
    for word in words_of(text):
        assert 0 < len(word) <= MAX_TOKEN_CHARACTERS
        position = text.index(word, position) + len(word)


@given(st.text())
def test_any_text_has_terms_without_white_space(text: str) -> None:
    terms = EnglishAnalyzer().terms(text)
    assert all(term and not any(letter.isspace() for letter in term) for term in terms)
