"""The settings of policies with overrides of their own, over a grid of values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies.artefacts import PUBLISHED_DEFAULT
from scaar.core.policies.checks import check_policy, without_idle
from scaar.core.types import PolicyRequest
from scaar.evaluator.planning.settings import Value, Values, requests_of, setting_of
from scaar.evaluator.records import Setting


def plan_policies(policies: Sequence[PolicyRequest], grid: Values) -> tuple[Setting, ...]:
    """Return every policy at each combination of the grid's values that it takes.

    Overrides of a policy take precedence over the grid. A policy without a name is scaar.

    Raises:
        InvalidRequest: naming every policy that is invalid or given twice, and every value of the
            grid that is given twice or that no policy takes.
    """
    policies = [replace(each, name=each.name or PUBLISHED_DEFAULT) for each in policies]
    _refuse([*_wrong_policies(policies), *_given_twice(grid)])
    found: dict[PolicyRequest, None] = {}
    for policy in policies:
        own = {name: (value,) for name, value in policy.overrides.given().items()}
        values: Mapping[str, Sequence[Value]] = {**grid, **own}
        for request in requests_of(policy.name, values):
            found[request] = None
    _refuse(_unused(found, grid))
    return tuple(setting_of(request) for request in found)


def _wrong_policies(policies: Sequence[PolicyRequest]) -> Iterator[Violation]:
    seen: dict[PolicyRequest, int] = {}
    for at, policy in enumerate(policies):
        place = f"policies[{at}]"
        wrong = check_policy(policy)
        for each in wrong:
            yield Violation(f"{place}{each.field.removeprefix('policy')}", each.description)
        if wrong:
            continue
        first = seen.setdefault(without_idle(policy), at)
        if first != at:
            yield Violation(place, f"is the same as policies[{first}]")


def _given_twice(grid: Values) -> Iterator[Violation]:
    for name, values in grid.items():
        for value in dict.fromkeys(values):
            if values.count(value) > 1:
                yield Violation(f"grid.{name}", f"{value:g} is given twice")


def _unused(found: Mapping[PolicyRequest, None], grid: Values) -> Iterator[Violation]:
    used = {pair for request in found for pair in request.overrides.given().items()}
    names = " or ".join(dict.fromkeys(each.name for each in found))
    for name, values in grid.items():
        for value in values:
            if (name, value) not in used:
                yield Violation(f"grid.{name}", f"{value:g} has no effect on {names}")


def _refuse(wrong: Sequence[Violation] | Iterator[Violation]) -> None:
    if found := list(wrong):
        raise InvalidRequest(found)
