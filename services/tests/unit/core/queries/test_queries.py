import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.core.queries import FORMULATIONS, build_query
from scaar.core.text.words import split_words
from scaar.core.types import (
    AttendedWord,
    JudgedWord,
    Query,
    QueryRequest,
    QuerySettings,
    WordOrder,
)

QUESTION = "Who directed Nosferatu?"
DRAFT = (
    ("Nosferatu", 0.30, False),
    ("was", 0.01, False),
    ("directed", 0.20, False),
    ("by", 0.05, False),
    ("Fritz", 0.40, True),
    ("Lang.", 0.25, True),
)


def words_of(*words: tuple[str, float | None, bool]) -> tuple[JudgedWord, ...]:
    return tuple(
        JudgedWord(text, 0, len(text), None, 0.8, uncertain=uncertain, contribution=contribution)
        for text, contribution, uncertain in words
    )


ATTENDED = tuple(
    AttendedWord(word, weight)
    for word, weight in zip(
        "Who directed Nosferatu? It is a film.".split(),
        (0.02, 0.3, 0.4, 0.05, 0.01, 0.02, 0.2),
        strict=True,
    )
)


def request(formulation: str, include_question: bool = False, **settings: Any) -> QueryRequest:
    return QueryRequest(
        question=QUESTION,
        settings=replace(QuerySettings(formulation, include_question), **settings),
        words=words_of(*DRAFT),
        accepted=("It is a film.", " It is\n old."),
        recent_tokens=("It", " is", "\n old", ".", " Nos", "feratu"),
        attended=ATTENDED,
    )


@pytest.mark.parametrize(
    ("formulation", "expected", "kept"),
    [
        ("question", QUESTION, ()),
        ("current_sentence", "Nosferatu was directed by", (0, 1, 2, 3)),
        ("last_sentence", "It is old.", ()),
        ("last_n_tokens", "It is old. Nosferatu", ()),
        ("full_context", "It is a film. It is old.", ()),
        ("pfq", "Nosferatu", (0,)),
        ("content_words", "Nosferatu directed", (0, 2)),
        ("span_masked", "Nosferatu was directed by", (0, 1, 2, 3)),
        ("uncovered_question", f"{QUESTION} Nosferatu was directed by", (0, 1, 2, 3)),
        ("attention", "Who directed Nosferatu? It is a film.", ()),
        ("attention_reference", "directed Nosferatu? film.", ()),
    ],
)
def test_each_formulation_asks_for_its_own_words(
    formulation: str, expected: str, kept: tuple[int, ...]
) -> None:
    assert build_query(request(formulation)) == Query(expected, formulation, kept)


@pytest.mark.parametrize(
    "formulation", sorted(FORMULATIONS.keys() - {"uncovered_question", "next_hop"})
)
def test_an_included_question_is_first_and_only_once(formulation: str) -> None:
    alone = build_query(request(formulation)).text
    included = build_query(request(formulation, include_question=True)).text
    expected = QUESTION if formulation == "question" else f"{QUESTION} {alone}"
    assert included == expected


def test_every_formulation_is_in_the_table() -> None:
    assert set(FORMULATIONS) == set(FORMULATIONS)


def test_pfq_keeps_the_confident_words_among_the_top_alpha_percent() -> None:
    # The top 67% of six words are five: Fritz, Nosferatu, Lang., directed, by.
    query = build_query(request("pfq", alpha=67.0))
    assert (query.text, query.kept) == ("Nosferatu directed by", (0, 2, 3))


def test_pfq_can_name_words_by_contribution_and_still_tells_positions_ascending() -> None:
    requested = request("pfq", alpha=100.0, word_order=WordOrder.CONTRIBUTION)
    requested = replace(
        requested, words=words_of(("a", 0.1, False), ("b", 0.3, False), ("c", 0.2, False))
    )
    query = build_query(requested)
    assert (query.text, query.kept) == ("b c a", (0, 1, 2))


def test_pfq_breaks_ties_by_position() -> None:
    tied = words_of(("a", 0.2, False), ("b", 0.2, False), ("c", 0.2, False))
    query = build_query(replace(request("pfq", alpha=34.0), words=tied))
    assert query.kept == (0, 1)


@pytest.mark.parametrize(
    ("alpha", "count", "kept"),
    [(0.001, 5, 1), (20, 5, 1), (20.1, 5, 2), (1.1, 1000, 11), (7, 100, 7)],
)
def test_pfq_rounds_the_share_up_from_the_requested_decimal(
    alpha: float, count: int, kept: int
) -> None:
    words = words_of(*[("w", 0.5, False)] * count)
    requested = replace(request("pfq", alpha=alpha, max_words=5000), words=words)
    assert len(build_query(requested).kept) == kept


@given(
    st.lists(st.tuples(st.text("ab", min_size=1), st.floats(0, 1), st.booleans()), max_size=12),
    st.floats(0.01, 100.0),
)
def test_pfq_never_keeps_an_uncertain_word_nor_more_than_its_share(
    words: list[tuple[str, float, bool]], alpha: float
) -> None:
    requested = replace(request("pfq", alpha=alpha), words=words_of(*words))
    query = build_query(requested)
    assert not any(words[position][2] for position in query.kept)
    assert len(query.kept) <= max(1, math.ceil(alpha * len(words) / 100))
    assert query.fell_back == (not query.kept)


def test_pfq_refuses_words_without_contribution() -> None:
    for unknown in (None, math.nan):
        requested = replace(
            request("pfq"), words=words_of(("a", 0.5, False), ("b", unknown, False))
        )
        with pytest.raises(InvalidRequest, match=r"words\[1\]\.contribution: pfq needs"):
            build_query(requested)


@pytest.mark.parametrize(
    "formulation",
    [
        "current_sentence",
        "last_sentence",
        "last_n_tokens",
        "full_context",
        "pfq",
    ],
)
@pytest.mark.parametrize("include_question", [True, False])
def test_a_formulation_without_words_falls_back_to_the_question(
    formulation: str, include_question: bool
) -> None:
    settings = QuerySettings(formulation, include_question)
    query = build_query(QueryRequest(QUESTION, settings))
    assert query == Query(QUESTION, formulation, (), fell_back=True)


def test_a_draft_of_uncertain_words_alone_falls_back_to_the_question() -> None:
    for formulation in ("current_sentence", "pfq"):
        requested = replace(request(formulation), words=words_of(("Lang.", 0.9, True)))
        assert build_query(requested).fell_back


def test_last_n_tokens_uses_at_most_the_requested_number() -> None:
    assert build_query(request("last_n_tokens", last_n_tokens=1)).text == "feratu"
    assert build_query(request("last_n_tokens", last_n_tokens=3)).text == ". Nosferatu"


def test_the_limit_drops_the_words_with_the_smallest_contribution() -> None:
    query = build_query(request("current_sentence", max_words=2))
    assert (query.text, query.kept) == ("Nosferatu directed", (0, 2))


def test_the_limit_drops_the_earliest_accepted_words() -> None:
    assert build_query(request("full_context", max_words=3)).text == "It is old."


def test_the_cap_counts_the_question_but_never_cuts_it() -> None:
    requested = request("current_sentence", include_question=True, max_words=4)
    assert build_query(requested).text == f"{QUESTION} Nosferatu"
    requested = request("current_sentence", include_question=True, max_words=1)
    assert build_query(requested) == Query(QUESTION, "current_sentence", (), fell_back=True)


def test_white_space_of_the_question_becomes_single_spaces() -> None:
    requested = replace(request("question"), question="  Who\n\tis it? ")
    assert build_query(requested).text == "Who is it?"


@pytest.mark.parametrize(
    ("settings", "field", "limit"),
    [
        ({"alpha": 0.0}, "settings.alpha", "100"),
        ({"alpha": 100.1}, "settings.alpha", "100"),
        ({"alpha": math.nan}, "settings.alpha", "100"),
        ({"max_words": 0}, "settings.max_words", "1"),
        ({"last_n_tokens": 0}, "settings.last_n_tokens", "1"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name_and_limit(
    settings: dict[str, Any], field: str, limit: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        build_query(request("pfq", **settings))
    (violation,) = refused.value.violations
    assert violation.field == field
    assert limit in violation.description


def test_an_empty_question_is_refused_with_all_else_that_is_wrong() -> None:
    with pytest.raises(InvalidRequest) as refused:
        build_query(replace(request("question", max_words=0), question=" \n"))
    assert [wrong.field for wrong in refused.value.violations] == ["question", "settings.max_words"]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, "Nosferatu?"), (2, "directed Nosferatu?"), (5, "Who directed Nosferatu? It film.")],
)
def test_attention_asks_with_the_words_attended_to_most_in_text_order(
    count: int, expected: str
) -> None:
    requested = request("attention", top_words=count)
    assert build_query(requested).text == expected


def test_without_attention_the_query_by_attention_falls_back_to_the_question() -> None:
    query = build_query(replace(request("attention"), attended=()))
    assert (query.text, query.fell_back) == (QUESTION, True)


def test_the_authors_query_keeps_its_last_words() -> None:
    requested = request("attention_reference", max_words=2)
    assert build_query(requested).text == "Nosferatu? film."


def test_tokens_of_a_word_stay_together_in_the_query() -> None:
    pieces = [("Nos", 0, 3), ("fer", 3, 6), ("atu", 6, 9), ("was", 10, 13)]
    words = tuple(
        JudgedWord(text, start, end, 0.9, 0.8, uncertain=text == "fer")
        for text, start, end in pieces
    )
    requested = replace(request("current_sentence"), words=words)
    assert build_query(requested).text == "Nos atu was"
    sure = tuple(replace(word, uncertain=False) for word in words)
    assert build_query(replace(requested, words=sure)).text == "Nosferatu was"


def drafted(text: str, *uncertain: str) -> tuple[JudgedWord, ...]:
    """Return the words of a draft; ``uncertain`` ones are marked."""
    return tuple(
        JudgedWord(word.text, word.start, word.end, 0.5, 0.8, uncertain=word.text in uncertain)
        for word in split_words(text)
    )


@pytest.mark.parametrize(
    ("draft", "uncertain", "expected"),
    [
        (
            "The film Silent Harbour was directed by Anna Kowalski.",
            ["Anna"],
            "The film Silent Harbour was directed by",
        ),
        ("Anna Kowalski was born on May 12, 1990.", ["12,"], "Anna Kowalski was born on"),
        ("Anna Kowalski was reportedly born in Rome.", ["reportedly"], None),
        ("Anna Kowalski, a director, was born.", [], "Anna Kowalski, a director, was born."),
        ("彼は東京で生まれた", ["東", "京"], "彼はで生まれた"),
    ],
)
def test_one_uncertain_word_masks_its_whole_span(
    draft: str, uncertain: list[str], expected: str | None
) -> None:
    requested = replace(request("span_masked"), words=drafted(draft, *uncertain))
    alone = " ".join(word for word in draft.split() if word not in uncertain)
    assert build_query(requested).text == (expected or alone)


@given(st.lists(st.tuples(st.text("Aab1é.,", min_size=1), st.booleans()), min_size=1))
def test_a_masked_query_has_no_word_of_an_uncertain_span(words: list[tuple[str, bool]]) -> None:
    marked = words_of(*((text, 0.1, uncertain) for text, uncertain in words))
    by_word = build_query(replace(request("current_sentence"), words=marked))
    query = build_query(replace(request("span_masked"), words=marked))
    assert set(query.kept) <= set(by_word.kept)
    if not any(word.uncertain for word in marked):
        assert query.kept == by_word.kept


def test_the_uncovered_question_leaves_out_what_was_stated() -> None:
    requested = replace(
        request("uncovered_question"),
        question="Was Silent Harbour's director older than that of Nosferatu?",
        accepted=("The film Silent Harbour was directed by Anna.",),
        words=drafted("The film Nosferatu was by Max Orlok.", "Max", "Orlok."),
    )
    expected = "director older than that of Nosferatu? The film Nosferatu was by"
    assert build_query(requested) == Query(expected, "uncovered_question", (0, 1, 2, 3, 4))


def test_a_fused_query_is_pfq_and_the_current_sentence() -> None:
    requested = request("fused", include_question=True, alpha=20.0)
    assert build_query(requested) == Query(
        text=build_query(request("pfq", include_question=True, alpha=20.0)).text,
        formulation="fused",
        kept=(0, 1, 2, 3),
        fused_with=build_query(request("current_sentence")).text,
    )


def test_equal_queries_are_not_fused() -> None:
    certain = replace(request("fused", alpha=100.0), words=words_of(("Ada", 0.1, False)))
    assert build_query(certain) == Query("Ada", "fused", (0,))
