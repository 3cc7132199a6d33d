"""The values of policies in which joined evaluations may differ."""

from collections.abc import Iterator, Mapping

from scaar.core.policies.settings import TUNED
from scaar.core.types import EffectivePolicy
from scaar.evaluator.results import Evaluation
from scaar.evaluator.statistics.variants import in_force, variant_name
from scaar.evaluator.studies.joining.consistency import Named, apart

Given = Mapping[str, frozenset[object]]
"""The given values of a setting by policy; None if no value was given."""


def swept_values(evaluations: Named) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield the settings with a single number in each evaluation that is not the same in all.

    Raises:
        InvalidRequest: a setting differs, and is not a single number in each evaluation.
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
            given = [" and ".join(_written(each)) for each in (found[0], found[other])]
            names = tuple(evaluations)
            raise apart((names[0], names[other]), f"{name} of policies", (given[0], given[1]))
        yield name, known


def _given(evaluation: Evaluation, name: str) -> Given:
    """The given values; a grid gives theta quantiles and no values."""
    placed = name == "theta" and evaluation.grid is not None
    found: dict[str, set[object]] = {}
    for each in evaluation.settings:
        value = None if placed else getattr(each.policy.overrides, name)
        found.setdefault(variant_name(each.policy, each.scorer), set()).add(value)
    return {policy: frozenset(values) for policy, values in found.items()}


def _of_common_policies(given: list[Given]) -> list[Given]:
    common = set.intersection(*(set(each) for each in given))
    return [{policy: each[policy] for policy in sorted(common)} for each in given]


def _only_value(evaluation: Evaluation, name: str, policies: set[str]) -> float | None:
    """The single number in force in the policies; None if there are several or none."""
    made = in_force(evaluation.settings, evaluation.provenance)
    found = {
        _in_force(policy, name)
        for each, policy in zip(evaluation.settings, made, strict=True)
        if policy is not None and variant_name(each.policy, each.scorer) in policies
    }
    return found.pop() if len(found) == 1 else None


def _in_force(policy: EffectivePolicy, name: str) -> float | None:
    value = getattr(policy if hasattr(policy, name) else policy.query, name)
    return float(value) if isinstance(value, int | float) else None


def _written(given: Given) -> list[str]:
    """The given values of each policy."""
    written = {
        policy: ", ".join(sorted(map(str, values)))
        for policy, values in given.items()
        if values != {None}
    }
    return [f"{values} ({policy})" for policy, values in written.items()] or ["not given"]
