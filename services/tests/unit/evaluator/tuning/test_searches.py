"""Candidates of tuning that search in other modes, rerank, or keep other shares of words."""

import pytest

from scaar.cli.eval.tune_options import parse_alphas, parse_searches
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.types import Capability, Rerank, SearchMode
from scaar.evaluator.studies.tuning.candidates import SEARCHES, check_parts, plan_candidates

AVAILABLE = frozenset(Capability)


def test_candidates_search_as_the_index_was_built_by_default() -> None:
    found = plan_candidates(("flare",), ("current_sentence",), (), AVAILABLE)
    assert {each.retrieving.search_mode for each in found} == {SearchMode.INDEX}
    assert {each.retrieving.rerank for each in found} == {Rerank.NONE}
    given = found[0].retrieving.overrides
    assert (given.search_mode, given.rerank) == (None, None)


def test_modes_and_orders_multiply_the_candidates() -> None:
    searches = parse_searches("words,hybrid", "none,cross_encoder")
    one = plan_candidates(("flare",), ("current_sentence",), (), AVAILABLE)
    found = plan_candidates(("flare",), ("current_sentence",), (), AVAILABLE, searches)
    assert len(found) == 4 * len(one)
    # Answers are stored by the label of the way of retrieving.
    assert len({each.retrieving.label for each in found}) == len(found)
    by_mode = {(each.retrieving.search_mode, each.retrieving.rerank): each for each in found}
    last = by_mode[SearchMode.HYBRID, Rerank.CROSS_ENCODER]
    assert last.retrieving.label.endswith(", mode hybrid, rerank cross_encoder")
    given = last.overrides(0.5)
    assert (given.search_mode, given.rerank) == (SearchMode.HYBRID, Rerank.CROSS_ENCODER)
    simplest, *_ = found
    assert simplest.retrieving.search_mode is SearchMode.WORDS
    assert simplest.retrieving.rerank is Rerank.NONE


def test_modes_and_orders_are_parsed_and_unknown_ones_are_named() -> None:
    assert parse_searches(None, None) == SEARCHES
    with pytest.raises(InvalidRequest, match="there is no mode 'fuzzy'; known: index, words"):
        parse_searches("words,fuzzy", None)
    with pytest.raises(InvalidRequest, match="there is no order 'best'; known: none, cross"):
        parse_searches(None, "best")


def test_shares_of_words_multiply_the_candidates_whose_query_has_them() -> None:
    alphas = parse_alphas("25,100")
    one = plan_candidates(("flare",), ("pfq",), (), AVAILABLE)
    found = plan_candidates(("flare",), ("current_sentence", "pfq"), (), AVAILABLE, alphas=alphas)
    assert {each.retrieving.alpha for each in one} == {None}
    assert len(found) == 3 * len(one)
    # Answers are stored by the label of the way of retrieving.
    assert len({each.retrieving.label for each in found}) == len(found)
    assert {(each.retrieving.query, each.retrieving.alpha) for each in found} == {
        *(("current_sentence", None), ("pfq", 25.0), ("pfq", 100.0))
    }
    last = found[-1]
    assert last.retrieving.label.endswith(", alpha 100")
    assert last.overrides(0.5).alpha == 100


def test_shares_of_words_are_parsed_and_wrong_ones_are_named() -> None:
    assert parse_alphas(None) == ()
    with pytest.raises(InvalidRequest, match="must be numbers, not 'half'"):
        parse_alphas("25,half")
    with pytest.raises(InvalidRequest, match="at most 100 .percent., not 120"):
        check_parts(("flare",), ("pfq",), (50, 120))
    with pytest.raises(InvalidRequest, match="needs a query of which alpha is a setting: pfq"):
        check_parts(("flare",), ("current_sentence",), (50,))


def test_triggers_and_queries_that_are_given_twice_are_named() -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_parts(("flare", "exp_raw", "flare"), ("pfq", "pfq"))
    assert caught.value.violations == (
        Violation("triggers", "flare is given twice"),
        Violation("queries", "pfq is given twice"),
    )
