import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluator.planning.policies import plan_policies
from scaar.evaluator.planning.settings import plan_settings
from scaar.testing.artefacts import artefact_of

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


def test_a_tuned_policy_keeps_its_values_and_goes_by_its_name() -> None:
    tuned = TunedPolicies([artefact_of("tuned-1.4", settings=PolicyOverrides(theta=0.42))])
    own = PolicyRequest("tuned-1.4", PolicyOverrides(top_k=5))
    requests = (PolicyRequest("tuned-1.4"), PolicyRequest("flare"), own)
    planned = plan_policies(requests, {"theta": (0.3,)}, tuned)
    assert {each.label: each.policy.overrides for each in planned} == {
        "tuned-1.4": PolicyOverrides(theta=0.42),
        "flare:theta=0.3": PolicyOverrides(theta=0.3),
        "tuned-1.4:top_k=5": PolicyOverrides(theta=0.42, top_k=5),
    }
    assert {each.policy.artefact for each in planned} == {"tuned-1.4", ""}
    with pytest.raises(InvalidRequest, match="known: .*, tuned-1.4"):
        plan_policies((PolicyRequest("tuned-9"),), {}, tuned)
    with pytest.raises(InvalidRequest, match=r"grid.theta: 0.42 has no effect on tuned-1.4"):
        plan_policies(requests[:1], {"theta": (0.42,)}, tuned)


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
        (
            (PolicyRequest("ircot"),),
            {"trigger": ("rind",)},
            "grid.trigger",
            "rind has no effect on",
        ),
        ((PolicyRequest("no_retrieval"),), {"theta": (0.3,)}, "grid.theta", "has no effect on"),
        (
            (PolicyRequest("flare"),),
            {"theta": (0.3, 9.0)},
            "grid.theta",
            "for policy flare, not 9",
        ),
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
