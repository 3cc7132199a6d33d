"""The settings of policies with overrides of their own, over a grid of values."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies.artefacts import NO_POLICIES, TunedPolicies
from scaar.core.policies.checks import check_policy, without_idle
from scaar.core.policies.settings import SETTINGS
from scaar.core.types import PolicyRequest
from scaar.evaluator.planning.settings import (
    Value,
    Values,
    label_of,
    taken,
    unused,
    written,
)
from scaar.evaluator.records import Setting


def plan_policies(
    policies: Sequence[PolicyRequest], grid: Values, tuned: TunedPolicies = NO_POLICIES
) -> tuple[Setting, ...]:
    """Return every policy at each combination of the grid's values that it takes.

    Overrides of a policy take precedence over the grid. A policy without a name is scaar. A
    ``tuned`` policy keeps its own values, under its own name.

    Raises:
        InvalidRequest: naming every policy that is invalid or given twice, and every value of the
            grid that is given twice or that no policy takes.
    """
    labels = [label_of(each) if each.name in tuned else "" for each in policies]
    policies = [tuned.resolve(each) for each in policies]
    _refuse([*_wrong_policies(policies, tuned), *_unknown(grid), *_given_twice(grid)])
    found: dict[PolicyRequest, str] = {}
    refused: dict[tuple[str, Value], Violation] = {}
    for policy, label in zip(policies, labels, strict=True):
        if policy.artefact:
            found[policy] = label
            continue
        own = {name: (value,) for name, value in policy.overrides.given().items()}
        values: Mapping[str, Sequence[Value]] = {**grid, **own}
        requests, wrong = taken(policy.name, values)
        refused |= wrong
        found.update((request, label_of(request)) for request in requests)
    _refuse(_unused(found, grid, refused))
    return tuple(Setting(label, request) for request, label in found.items())


def _wrong_policies(
    policies: Sequence[PolicyRequest], tuned: Collection[str]
) -> Iterator[Violation]:
    seen: dict[PolicyRequest, int] = {}
    for at, policy in enumerate(policies):
        place = f"policies[{at}]"
        wrong = check_policy(policy, tuned)
        for each in wrong:
            yield Violation(f"{place}{each.field.removeprefix('policy')}", each.description)
        if wrong:
            continue
        first = seen.setdefault(without_idle(policy), at)
        if first != at:
            yield Violation(place, f"is the same as policies[{first}]")


def _unknown(grid: Values) -> Iterator[Violation]:
    for name in grid.keys() - SETTINGS.keys():
        yield Violation(f"grid.{name}", f"is not a setting; known: {', '.join(sorted(SETTINGS))}")


def _given_twice(grid: Values) -> Iterator[Violation]:
    for name, values in grid.items():
        for value in dict.fromkeys(values):
            if values.count(value) > 1:
                yield Violation(f"grid.{name}", f"{written(value)} is given twice")


def _unused(
    found: Collection[PolicyRequest],
    grid: Values,
    refused: Mapping[tuple[str, Value], Violation],
) -> Iterator[Violation]:
    used = {
        pair
        for request in found
        if not request.artefact
        for pair in request.overrides.given().items()
    }
    names = list(dict.fromkeys(each.label for each in found))
    for each in unused(names, grid, used, refused):
        yield Violation(f"grid.{each.field}", each.description)


def _refuse(wrong: Sequence[Violation] | Iterator[Violation]) -> None:
    if found := list(wrong):
        raise InvalidRequest(found)
