"""The axes of settings, from which a service plans the same settings again."""

import pytest

from scaar.evaluator.planning.ablations import ABLATIONS, plan_ablation
from scaar.evaluator.planning.axes import axes_of, scorers_named, with_indexes, with_scorers
from scaar.evaluator.planning.gates import Gating, with_gates
from scaar.evaluator.planning.policies import plan_policies
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.records import Setting


def planned_again(settings: tuple[Setting, ...], indexes: tuple[str, ...]) -> tuple[Setting, ...]:
    axes = axes_of(settings)
    found = plan_policies(axes.policies, {})
    if axes.scorers:
        found = with_scorers(found, scorers_named(axes.scorers))
    return with_indexes(found, indexes)


@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        (name, indexes)
        for name, ablation in ABLATIONS.items()
        for indexes in ((), ("one",), ("one", "two"))
        if len(indexes) == 2 or not ablation.by_index
    ],
)
def test_every_ablation_is_planned_again_from_its_axes(name: str, indexes: tuple[str, ...]) -> None:
    settings = plan_ablation(name, {"top_k": (2,)} if name != "top-k" else {}, indexes)
    assert planned_again(settings, indexes) == settings


def test_gates_are_part_of_the_policies() -> None:
    settings = plan_settings(("no_retrieval", "scaar"), {"theta": (0.3, 0.8)})
    settings = with_gates(settings, [Gating("gece_proxy", 0.4)])
    settings = with_indexes(with_scorers(settings, scorers_named(("permuted", "none"))), ("a", "b"))
    assert len(settings) == 1 + 2 * 2 * 2 * 2
    assert axes_of(settings).scorers == ("permuted", "none")
    assert axes_of(settings).indexes == ("a", "b")
    assert planned_again(settings, ("a", "b")) == settings


def test_settings_with_the_scorer_itself_and_one_index_have_no_axes() -> None:
    axes = axes_of(plan_settings(("scaar", "flare"), {}))
    assert (axes.scorers, axes.indexes) == ((), ())
