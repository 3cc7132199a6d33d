from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.types import AttentionSpan, Granularity, PolicyRequest
from scaar.evaluation.evaluate import evaluate
from scaar.evaluator.planning.axes import with_scorers
from scaar.evaluator.planning.settings import plan_settings, setting_of
from scaar.evaluator.records import Decision, Prediction
from scaar.evaluator.studies.grid.candidates import (
    candidates_of,
    check_grid,
    check_gridded,
    first_pass_settings,
    quantiles,
    with_candidates,
)
from scaar.testing.commands import run_scaar
from scaar.testing.evaluations import prediction

SCORES = st.lists(st.floats(-1, 1), max_size=40)


def scored(label: str, *scores: float | None) -> list[Prediction]:
    """A prediction for each score, with a judged sentence and one that was not."""
    made = prediction(label, "q1")
    (judged,) = made.decisions
    return [
        replace(made, decisions=(replace(judged, score=score), Decision(" So.")))
        for score in scores
    ]


@given(SCORES, st.integers(2, 12), st.booleans())
def test_quantiles_rise_and_stay_among_the_scores(
    scores: list[float], size: int, inside: bool
) -> None:
    found = quantiles(scores, size, inside=inside)
    assert list(found) == sorted(set(found))
    assert len(found) <= size
    thetas = [score for score in scores if score > 0]
    assert bool(found) == bool(thetas)
    if thetas:
        assert all(theta > 0 and min(thetas) * 0.999 <= theta for theta in found)
        assert all(theta <= max([*thetas, 1e-6]) * 1.001 for theta in found)


@given(st.integers(2, 12), st.floats(0.01, 0.1))
def test_as_many_sentences_lie_between_two_candidates_as_between_others(
    size: int, step: float
) -> None:
    scores = [step + at * 0.0005 for at in range(1_200)]
    found = candidates_of(scored("flare", *scores), "flare", size=size)
    assert len(found) == size
    between = [
        sum(low <= score < high for score in scores)
        for low, high in zip((0, *found), (*found, 2), strict=True)
    ]
    assert max(between) - min(between) <= 4


def test_equal_scores_leave_the_candidates_to_the_different_ones() -> None:
    found = candidates_of(scored("flare", *[0.4] * 90, 0.1, 0.2, 0.3, 0.5), "flare", size=3)
    assert found == (0.2, 0.3, 0.4)


def test_a_sentence_that_no_theta_spares_moves_no_candidate() -> None:
    found = candidates_of(scored("flare", None, 0.2, 0.5, None), "flare", size=2)
    assert found == (0.3, 0.4)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ((), "no sentence was judged"),
        ((0.5, 0.5), "the scores of 2 sentences have 1 different value,"),
    ],
)
def test_too_few_scores_are_reported(scores: tuple[float, ...], message: str) -> None:
    with pytest.raises(ScaarError, match=message):
        candidates_of(scored("flare", *scores), "flare", size=3)


def test_each_trigger_is_judged_once_whatever_else_varies() -> None:
    settings = plan_settings(
        ("no_retrieval", "ircot", "flare", "scaar"), {"alpha": (25.0, 50.0), "top_k": (1, 3)}
    )
    judging = first_pass_settings(settings)
    assert [each.label for each in judging] == ["flare", "scaar"]
    candidates = {"flare": (0.1, 0.2), "scaar": (0.3, 0.4)}
    found = with_candidates(settings, candidates)
    assert len({each.label for each in found}) == len(found) == 1 + 2 + 2 * 2 + 4 * 2
    for policy, thetas in candidates.items():
        mine = {each.policy.overrides.theta for each in found if each.policy.name == policy}
        assert mine == set(thetas)


def test_what_moves_the_scores_is_judged_apart() -> None:
    settings = plan_settings(
        ("flare",), {"granularity": tuple(Granularity), "query": ("question",)}
    )
    assert [each.label for each in first_pass_settings(settings)] == [
        f"flare:granularity={each}" for each in Granularity
    ]
    settings = plan_settings(
        ("dragin",), {"attention_span": tuple(AttentionSpan), "query": ("question",)}
    )
    assert [each.label for each in first_pass_settings(settings)] == [
        f"dragin:attention_span={each}" for each in AttentionSpan
    ]


def test_a_control_of_the_scorer_is_judged_apart_where_the_trigger_goes_by_it() -> None:
    settings = plan_settings(("scaar",), {"trigger": ("flare", "exp_raw")})
    found = with_scorers(settings, (None, Control.PERMUTED))
    judging = [each.label for each in first_pass_settings(found)]
    assert judging == [
        "scaar:trigger=flare",
        "scaar:trigger=exp_raw",
        "scaar:trigger=exp_raw,scorer=permuted",
    ]
    laid = with_candidates(found, dict.fromkeys(judging, (0.1, 0.2)))
    assert [each.label for each in laid if each.scorer] == [
        *(f"scaar:theta={theta},trigger=flare,scorer=permuted" for theta in (0.1, 0.2)),
        *(f"scaar:theta={theta},trigger=exp_raw,scorer=permuted" for theta in (0.1, 0.2)),
    ]


def test_a_grid_has_a_size_and_goes_without_thetas() -> None:
    check_grid(6, {"alpha": (25.0,)})
    with pytest.raises(InvalidRequest, match="grid: must be 2 to 50, not 1"):
        check_grid(1, {})
    with pytest.raises(InvalidRequest, match="cannot be combined with values of theta"):
        check_grid(6, {"theta": (0.1,)})


def test_a_grid_without_a_theta_to_place_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="grid: has no effect on no_retrieval, single_round: "):
        check_gridded(plan_settings(("no_retrieval", "single_round"), {}))
    with pytest.raises(InvalidRequest, match="grid: has no effect on flare: none has a theta"):
        check_gridded(plan_settings(("flare",), {"theta": (0.3,)}))
    check_gridded(plan_settings(("no_retrieval", "flare"), {}))
    check_gridded((setting_of(PolicyRequest("tuned by an evaluator")),))


def test_a_command_with_a_grid_needs_a_policy_with_a_theta(tmp_path: Path) -> None:
    given = ("--dataset", "lab", "--grid", "3", "--policies", "single_round")
    for where in (("--out", str(tmp_path / "out")), ("--target", "dns:///127.0.0.1:1")):
        ran = run_scaar("eval", "run", *given, *where)
        assert ran.status != 0
        assert "--grid: has no effect on single_round: none has a theta to place" in ran.err
    with pytest.raises(InvalidRequest, match="grid: has no effect on single_round"):
        evaluate("lab", "single_round", grid=3, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
