"""Axes in which joined evaluations differ: model, data set, seed or numbers, and nothing else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.core.policies.settings import TUNED
from scaar.core.types import EffectivePolicy
from scaar.evaluator.results import Evaluation
from scaar.evaluator.statistics.variants import in_force, variant_name
from scaar.evaluator.studies.joining import facts

Value = str | float
Given = Mapping[str, frozenset[object]]
"""The given values of a setting by policy; None if no value was given."""
Named = Mapping[str, Evaluation]
"""Evaluations by the names of their folders."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A property in which evaluations differ, with its value in each of them, in order.

    ``swept`` marks a number over which results can be drawn.
    """

    name: str
    values: tuple[Value, ...]
    swept: bool = False

    @property
    def differs(self) -> bool:
        """Whether there is more than one value."""
        return len(set(self.values)) > 1


def axes_of(evaluations: Named) -> tuple[Axis, ...]:
    """Return the model, and every other property in which the evaluations differ.

    Raises:
        InvalidRequest: two evaluations cannot be joined; names what differs, or that nothing does.
    """
    _check_policies(evaluations)
    require_alike(evaluations, "the grid is", facts.grid_of)
    require_alike(evaluations, "the budget of an answer is", facts.budget_of)
    require_alike(evaluations, "the scorer is", facts.scorer_of)
    model, data = _model(evaluations), _data(evaluations)
    for same in _groups(evaluations, data):
        require_alike(same, "the questions are", facts.questions_of)
        require_alike(same, "the index is", facts.index_of)
    for same in _groups(evaluations, (model, *data)):
        require_alike(same, "the prompt layout is", facts.layout_of)
    values = [Axis(name, numbers, swept=True) for name, numbers in swept_values(evaluations)]
    axes = (model, *(axis for axis in (*data, *values) if axis.differs))
    for same in _groups(evaluations, axes):
        if len(same) > 1:
            first, other = tuple(same)[:2]
            text = f"{first} and {other} are the same evaluation: no compared property differs"
            raise InvalidRequest.of("DIR", text)
    return axes


def _check_policies(evaluations: Named) -> None:
    """Check that all evaluations have the same policies, including those left out."""
    (first, one), *others = evaluations.items()
    here = facts.policies_of(one)
    for name, other in others:
        there = facts.policies_of(other)
        more, less = (
            ", ".join(each for each in mine if each not in theirs) or "none"
            for mine, theirs in ((there, here), (here, there))
        )
        if (more, less) != ("none", "none"):
            raise apart((first, name), "policies of only one of them are", (less, more))


def _model(evaluations: Named) -> Axis:
    """The models by name; with revision and engine if a name is ambiguous."""
    each = evaluations.values()
    short, full = (
        tuple(fact(one) for one in each) for fact in (facts.short_model_of, facts.model_of)
    )
    return Axis("model", short if len(set(short)) == len(set(full)) else full)


def _data(evaluations: Named) -> tuple[Axis, ...]:
    each = tuple(evaluations.values())
    found: list[Mapping[str, Value]] = [facts.parameters_of(one) for one in each]
    names = dict.fromkeys(name for parameters in found for name in parameters)
    parameters = (
        (name, tuple(parameters.get(name, "not set") for parameters in found)) for name in names
    )
    return (
        Axis("data set", tuple(facts.data_set_of(one) for one in each)),
        Axis("seed", tuple(str(one.dataset.seed) for one in each)),
        *(Axis(name, values, swept=_numbers(values)) for name, values in parameters),
    )


def _numbers(values: Sequence[Value]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _groups(evaluations: Named, axes: Sequence[Axis]) -> list[dict[str, Evaluation]]:
    """The evaluations by their values on some axes."""
    found: dict[tuple[Value, ...], dict[str, Evaluation]] = {}
    for at, (name, one) in enumerate(evaluations.items()):
        found.setdefault(tuple(axis.values[at] for axis in axes), {})[name] = one
    return list(found.values())


def require_alike(evaluations: Named, subject: str, fact: Callable[[Evaluation], str]) -> None:
    """Check that a fact is the same in all evaluations.

    Raises:
        InvalidRequest: naming the first two that differ, and their values.
    """
    names = tuple(evaluations)
    values = {name: fact(one) for name, one in evaluations.items()}
    for name in names:
        if values[name] != values[names[0]]:
            raise apart((names[0], name), subject, (values[names[0]], values[name]))


def apart(names: tuple[str, str], subject: str, values: tuple[str, str]) -> InvalidRequest:
    """Return the error that two evaluations cannot be joined because a fact differs."""
    first, other = names
    text = f"{other} cannot be joined to {first}: {subject} {values[1]} there and {values[0]} here"
    return InvalidRequest.of("DIR", text)


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
