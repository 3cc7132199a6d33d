"""Axes in which joined evaluations differ: model, data set, seed or numbers, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.evaluator.results import Evaluation
from scaar.evaluator.studies.joining import facts
from scaar.evaluator.studies.joining.consistency import Named, apart, require_alike
from scaar.evaluator.studies.joining.values import swept_values

Value = str | float


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
