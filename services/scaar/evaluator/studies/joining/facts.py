"""Facts about an evaluation, as texts and numbers that can be compared."""

from collections.abc import Callable, Mapping
from dataclasses import fields

from scaar.core.types import Provenance
from scaar.evaluator.results import DatasetOrigin, Evaluation
from scaar.evaluator.statistics.variants import variant_name

_OF_EVERY_DATASET = frozenset(field.name for field in fields(DatasetOrigin)) & {
    *("name", "path", "seed", "questions", "checksum"),
    *("limit", "file_sha256", "published_as"),
}
"""Fields that are no parameters of a data set."""


def model_of(evaluation: Evaluation) -> str:
    """Return the model, its revision and its engine."""
    return _of_all(evaluation, lambda x: f"{x.model} {x.model_revision} ({x.engine})")


def short_model_of(evaluation: Evaluation) -> str:
    """Return the name of the model."""
    return _of_all(evaluation, lambda x: x.model)


def data_set_of(evaluation: Evaluation) -> str:
    """Return the data set, with the checksum of its file if it has one."""
    origin = evaluation.dataset
    return " ".join(each for each in (origin.name, origin.file_sha256[:12]) if each)


def parameters_of(evaluation: Evaluation) -> Mapping[str, str | float]:
    """Return the parameters of the data set, such as the style rate of the lab."""
    found = {
        field.name: getattr(evaluation.dataset, field.name)
        for field in fields(evaluation.dataset)
        if field.name not in _OF_EVERY_DATASET
    }
    return {name: "not set" if value is None else value for name, value in found.items()}


def questions_of(evaluation: Evaluation) -> str:
    """Return the number and the checksum of the questions."""
    origin = evaluation.dataset
    return f"{origin.questions} of SHA-256 {origin.checksum[:12]}"


def scorer_of(evaluation: Evaluation) -> str:
    """Return the scorer and its controls."""
    return _of_all(evaluation, lambda x: f"{x.scorer} {x.scorer_revision}" if x.scorer else "")


def index_of(evaluation: Evaluation) -> str:
    """Return the index of the passages."""
    return _of_all(evaluation, lambda x: f"{x.index} {x.index_version}" if x.index_version else "")


def layout_of(evaluation: Evaluation) -> str:
    """Return the prompt layout."""
    return _of_all(evaluation, lambda x: x.prompt_profile)


def budget_of(evaluation: Evaluation) -> str:
    """Return the budget of an answer."""
    budget = evaluation.budget
    return ", ".join(f"{each.name} {getattr(budget, each.name):g}" for each in fields(budget))


def grid_of(evaluation: Evaluation) -> str:
    """Return the size of the grid of thetas."""
    return f"of {evaluation.grid.size}" if evaluation.grid else "not set"


def policies_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the requested policies, including those that the model cannot serve."""
    settings = (*evaluation.settings, *(each.setting for each in evaluation.left_out))
    return tuple(dict.fromkeys(variant_name(each.policy, each.scorer) for each in settings))


def _of_all(evaluation: Evaluation, fact: Callable[[Provenance], str]) -> str:
    """The distinct facts of all settings."""
    found = sorted({fact(made) for made in evaluation.provenance.values()} - {""})
    return ", ".join(found) or "none"
