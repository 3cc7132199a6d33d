"""The values that policies were asked with, as far as evaluations may differ in them."""

from collections.abc import Iterator, Mapping

from scaar.core.types import EffectivePolicy
from scaar.evaluator.joining.alike import Named, apart
from scaar.evaluator.results import Evaluation
from scaar.evaluator.statistics.contenders import TUNED, contender_name, in_force

Given = Mapping[str, frozenset[object]]
"""The values that a setting was given, by policy; None where it was given none."""


def swept_values(evaluations: Named) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The settings that have one number in each evaluation, and not the same in all.

    Raises:
        InvalidRequest: a setting has other values, and not one number in each.
    """
    for name in TUNED:
        found = _of_common_policies([_given(one, name) for one in evaluations.values()])
        other = next((at for at, each in enumerate(found) if each != found[0]), None)
        if other is None:
            continue
        gave = {policy for each in found for policy, values in each.items() if values != {None}}
        numbers = [_only_value(one, name, gave) for one in evaluations.values()]
        known = tuple(number for number in numbers if number is not None)
        if len(known) < len(numbers):
            told = [" and ".join(_written(each)) for each in (found[0], found[other])]
            names = tuple(evaluations)
            raise apart((names[0], names[other]), f"{name} of policies", (told[0], told[1]))
        yield name, known


def _given(evaluation: Evaluation, name: str) -> Given:
    """The values that were asked for; those of a grid's theta are places and no values."""
    placed = name == "theta" and evaluation.grid is not None
    found: dict[str, set[object]] = {}
    for each in evaluation.settings:
        value = None if placed else getattr(each.policy.overrides, name)
        found.setdefault(contender_name(each.policy, each.scorer), set()).add(value)
    return {policy: frozenset(values) for policy, values in found.items()}


def _of_common_policies(given: list[Given]) -> list[Given]:
    common = set.intersection(*(set(each) for each in given))
    return [{policy: each[policy] for policy in sorted(common)} for each in given]


def _only_value(evaluation: Evaluation, name: str, policies: set[str]) -> float | None:
    """The one number that was in force in the policies; None where there were more or none."""
    made = in_force(evaluation.settings, evaluation.provenance)
    found = {
        _in_force(policy, name)
        for each, policy in zip(evaluation.settings, made, strict=True)
        if policy is not None and contender_name(each.policy, each.scorer) in policies
    }
    return found.pop() if len(found) == 1 else None


def _in_force(policy: EffectivePolicy, name: str) -> float | None:
    value = getattr(policy if hasattr(policy, name) else policy.query, name)
    return float(value) if isinstance(value, int | float) else None


def _written(given: Given) -> list[str]:
    """The values of each policy that was given any."""
    told = {
        policy: ", ".join(sorted(map(str, values)))
        for policy, values in given.items()
        if values != {None}
    }
    return [f"{values} ({policy})" for policy, values in told.items()] or ["not given"]
