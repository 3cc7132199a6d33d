from dataclasses import replace

import pytest

from scaar.evaluator.statistics.variants import in_force
from scaar.evaluator.statistics.wins import contests, win_counts

from ..simulated import GRID, SETTINGS, setting


def test_the_best_of_each_contest_has_won_it() -> None:
    held = ({"a": 0.5, "b": 0.7}, {"a": 0.9, "b": 0.7}, {"a": 0.1, "b": 0.2, "c": 0.0})
    assert win_counts(held) == {"a": 1, "b": 2, "c": 0}


def test_equals_share_a_win_and_alone_none_is_won() -> None:
    assert win_counts(({"a": 0.5, "b": 0.5, "c": 0.1}, {"a": 1.0}, {})) == {
        "a": 0.5,
        "b": 0.5,
        "c": 0.0,
    }


def test_the_wins_add_up_to_the_contests() -> None:
    held = [{"a": n % 3 / 3, "b": n % 5 / 5, "c": n % 2 / 2} for n in range(30)]
    assert sum(win_counts(held).values()) == pytest.approx(30)


def test_triggers_meet_at_equal_theta_and_query() -> None:
    met = contests(in_force(GRID, {}))
    assert len(met) == 6
    for contest in met:
        assert set(contest) == {"flare", "exp_raw", "surprisal"}
        policies = [GRID[at].policy.overrides for at in contest.values()]
        assert len({(each.theta, each.query) for each in policies}) == 1


def test_a_policy_meets_another_whose_values_come_to_the_same() -> None:
    settings = (
        setting("no_retrieval"),
        setting("flare", theta=0.8, query="pfq"),
        setting("scaar"),
        setting("scaar", alpha=75.0),
        setting("flare", theta=0.8),
    )
    assert contests(in_force(settings, {})) == ({"flare": 1, "exp_raw": 2},)


def test_policies_of_other_queries_do_not_meet() -> None:
    assert contests(in_force(SETTINGS, {})) == ()


def test_a_value_without_effect_on_the_query_separates_no_contests() -> None:
    settings = (
        setting("flare", theta=0.8, query="current_sentence"),
        setting("scaar", theta=0.8, query="current_sentence"),
    )
    one, other = in_force(settings, {})
    assert one is not None
    assert other is not None
    idle = replace(other, query=replace(other.query, alpha=75.0))
    assert contests((one, idle)) == ({"flare": 0, "exp_raw": 1},)
    requested = replace(one, query=replace(one.query, include_question=True))
    assert contests((requested, idle)) == ()


def test_thetas_that_were_placed_are_equal_at_equal_places() -> None:
    settings = (
        *(setting("flare", theta=theta) for theta in (0.2, 0.6)),
        *(
            setting("flare", theta=theta, trigger="perplexity")
            for theta in (1.4, 1.1)  # A higher one looks up for fewer.
        ),
    )
    policies = in_force(settings, {})
    assert contests(policies) == ()
    assert contests(policies, placed=True) == (
        {"flare": 0, "perplexity": 2},
        {"flare": 1, "perplexity": 3},
    )


def test_the_default_of_stop_words_separates_no_contests() -> None:
    settings = (
        setting("flare", theta=0.8),
        setting("flare", theta=0.8, trigger="rind"),
        setting("flare", theta=0.8, trigger="exp_raw", spare_stop_words=True),
    )
    assert contests(in_force(settings, {})) == ({"flare": 0, "rind": 1},)
