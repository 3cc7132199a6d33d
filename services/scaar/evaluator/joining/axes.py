"""What evaluations differ in: model, data set, seed or numbers; anything else keeps them apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.core.errors import InvalidRequest
from scaar.evaluator.joining import facts
from scaar.evaluator.joining.alike import Named, apart, require_alike
from scaar.evaluator.joining.values import swept_values
from scaar.evaluator.results import Evaluation

Value = str | float


@dataclass(frozen=True, slots=True)
class Axis:
    """Something that evaluations differ in, and its value in each of them, in their order.

    ``swept`` is a number that the results may be drawn over.
    """

    name: str
    values: tuple[Value, ...]
    swept: bool = False

    @property
    def differs(self) -> bool:
        """Whether there is more than one value."""
        return len(set(self.values)) > 1


def axes_of(evaluations: Named) -> tuple[Axis, ...]:
    """The model, and whatever else the evaluations differ in.

    Raises:
        InvalidRequest: two of them cannot be joined, naming what is different, or that nothing is.
    """
    _check_policies(evaluations)
    require_alike(evaluations, "the grid is", facts.grid_of)
    require_alike(evaluations, "what an answer may spend is", facts.budget_of)
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
            told = f"{first} and {other} are the same evaluation: nothing differs that is compared"
            raise InvalidRequest.of("DIR", told)
    return axes


def _check_policies(evaluations: Named) -> None:
    """Passes evaluations of the same policies, those left out for want of the model among them."""
    (first, one), *others = evaluations.items()
    here = facts.policies_of(one)
    for name, other in others:
        there = facts.policies_of(other)
        more, less = (
            ", ".join(each for each in mine if each not in theirs) or "none"
            for mine, theirs in ((there, here), (here, there))
        )
        if (more, less) != ("none", "none"):
            raise apart((first, name), "the policies of one alone are", (less, more))


def _model(evaluations: Named) -> Axis:
    """The models by their names; with revision and engine where a name is not one model's."""
    each = evaluations.values()
    short, full = (
        tuple(told(one) for one in each) for told in (facts.short_model_of, facts.model_of)
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
