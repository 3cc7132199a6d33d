import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluator.planning.policies import plan_policies
from scaar.evaluator.planning.settings import plan_settings

NAMES = ("no_retrieval", "single_round", "flare", "scaar")
GRID = {"theta": (0.3, 0.8), "top_k": (1, 3)}


def labels(*policies: PolicyRequest, **grid: tuple[float, ...]) -> list[str]:
    return [each.label for each in plan_policies(policies, grid)]


def test_policies_by_name_are_planned_as_on_the_command_line() -> None:
    policies = tuple(PolicyRequest(name) for name in NAMES)
    assert plan_policies(policies, GRID) == plan_settings(NAMES, GRID)


def test_what_a_policy_is_given_itself_goes_over_the_grid() -> None:
    held = PolicyRequest("flare", PolicyOverrides(theta=0.5))
    assert labels(held, PolicyRequest("scaar"), theta=(0.3,)) == [
        "flare:theta=0.5",
        "scaar:theta=0.3",
    ]


@pytest.mark.parametrize(
    ("policies", "grid", "field", "message"),
    [
        ((PolicyRequest("guess"),), {}, "policies[0].name", "there is no policy 'guess'"),
        (
            (PolicyRequest("flare", PolicyOverrides(alpha=5.0)),),
            {},
            "policies[0].alpha",
            "alpha",
        ),
        ((PolicyRequest("flare"),) * 2, {}, "policies[1]", r"is the same as policies\[0\]"),
        ((PolicyRequest("flare"),), {"theta": (0.3, 0.3)}, "grid.theta", "0.3 is given twice"),
        ((PolicyRequest("no_retrieval"),), {"theta": (0.3,)}, "grid.theta", "has no effect on"),
        ((PolicyRequest("flare"),), {"theta": (0.3, 9.0)}, "grid.theta", "9 has no effect on"),
    ],
)
def test_what_is_wrong_is_named(
    policies: tuple[PolicyRequest, ...],
    grid: dict[str, tuple[float, ...]],
    field: str,
    message: str,
) -> None:
    with pytest.raises(InvalidRequest, match=message) as caught:
        plan_policies(policies, grid)
    assert [each.field for each in caught.value.violations] == [field]
