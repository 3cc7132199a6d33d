"""The words of a draft for its query, with the rules that leave them out."""

import pytest

from scaar.core.queries import build_query
from scaar.core.queries.draft_words import (
    NO_QUERY_WORDS,
    QueryWords,
    masked_words,
    query_words,
)
from scaar.core.types import JudgedWord, Query, QueryRequest, QuerySettings, WordRule

DRAFT = ("The", "film", "was", "directed", "by", "Ada", "Lovelace.")
CONTRIBUTIONS = (0.1, 0.7, 0.2, 0.9, 0.3, 0.8, 0.6)
UNCERTAIN = {5}


def judged(*, ranked: bool = True) -> tuple[JudgedWord, ...]:
    start, found = 0, []
    for at, text in enumerate(DRAFT):
        uncertain = at in UNCERTAIN
        found.append(
            JudgedWord(
                text,
                start,
                start + len(text),
                0.1 if uncertain else 0.9,
                0.5,
                uncertain,
                CONTRIBUTIONS[at] if ranked else None,
            )
        )
        start += len(text) + 1
    return tuple(found)


def words_of(formulation: str, **settings: object) -> QueryWords:
    chosen = QuerySettings(formulation, include_question=False, **settings)  # type: ignore[arg-type]
    words = judged()
    query = build_query(QueryRequest("Who directed it?", chosen, words))
    return query_words(words, query, chosen)


def rules(found: QueryWords) -> dict[str, list[str]]:
    return {
        text: [rule.value for rule in word.left_out_by]
        for text, word in zip(DRAFT, found.words, strict=True)
        if not word.kept
    }


def test_every_word_of_pfq_has_its_rank_and_the_rules_that_leave_it_out() -> None:
    found = words_of("pfq", alpha=60)
    assert found.cut_off == 5
    assert [word.rank for word in found.words] == [7, 3, 6, 1, 5, 2, 4]
    assert rules(found) == {"The": ["contribution"], "was": ["contribution"], "Ada": ["uncertain"]}


def test_a_word_can_be_left_out_by_two_rules() -> None:
    assert rules(words_of("pfq", alpha=1))["Ada"] == ["uncertain", "contribution"]


@pytest.mark.parametrize(
    ("formulation", "expected"),
    [
        ("current_sentence", {"Ada": ["uncertain"]}),
        ("content_words", {"The": ["word_class"], "was": ["word_class"], "Ada": ["uncertain"]}),
        ("span_masked", {"Ada": ["uncertain"], "Lovelace.": ["span"]}),
        ("uncovered_question", {"Ada": ["uncertain"]}),
    ],
)
def test_other_formulations_name_their_own_rules(
    formulation: str, expected: dict[str, list[str]]
) -> None:
    found = words_of(formulation)
    assert expected.items() <= rules(found).items()
    assert found.cut_off is None


def test_the_maximum_number_of_words_is_a_rule() -> None:
    left_out = rules(words_of("pfq", alpha=60, max_words=2))
    assert left_out["by"] == ["max_words"]
    # Whether the class of a word or the maximum leaves it out is not known.
    assert rules(words_of("content_words", max_words=2))["The"] == ["other"]


def test_a_fused_query_has_the_words_beyond_the_cut_off_in_its_second_text() -> None:
    found = words_of("fused", alpha=60)
    assert rules(found) == {"Ada": ["uncertain"]}
    (the, film, *_) = found.words
    assert (the.kept, the.left_out_by) == (True, (WordRule.CONTRIBUTION,))
    assert (film.kept, film.left_out_by) == (True, ())


def test_mask_below_decides_in_place_of_the_trigger() -> None:
    words = masked_words(judged(), 0.95)
    settings = QuerySettings("current_sentence", include_question=False)
    query = build_query(QueryRequest("Who?", settings, words))
    found = query_words(words, query, settings)
    assert query.fell_back
    assert all(word.left_out_by == (WordRule.UNCERTAIN,) for word in found.words)


def test_words_without_contributions_have_no_ranks() -> None:
    words = judged(ranked=False)
    query = Query("film directed", "pfq", (1, 3))
    found = query_words(words, query, QuerySettings("pfq", include_question=False))
    assert found.cut_off is None
    assert {word.rank for word in found.words} == {None}


@pytest.mark.parametrize("formulation", ["question", "full_context", "attention", "of_a_package"])
def test_a_query_that_is_not_of_the_judged_words_has_none(formulation: str) -> None:
    settings = QuerySettings(formulation, include_question=False)
    assert query_words(judged(), Query("x", formulation), settings) is NO_QUERY_WORDS
