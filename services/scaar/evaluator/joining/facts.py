"""What an evaluation was made of, in words and numbers that can be held against another's."""

from collections.abc import Callable, Mapping
from dataclasses import fields

from scaar.core.types import Provenance
from scaar.evaluator.results import DatasetOrigin, Evaluation
from scaar.evaluator.statistics.contenders import contender_name

_OF_EVERY_DATASET = frozenset(field.name for field in fields(DatasetOrigin)) & {
    *("name", "path", "seed", "questions", "checksum"),
    *("limit", "file_sha256", "published_as"),
}
"""What is no parameter of a data set's own."""


def model_of(evaluation: Evaluation) -> str:
    """The model, its revision and its engine."""
    return _of_all(evaluation, lambda x: f"{x.model} {x.model_revision} ({x.engine})")


def short_model_of(evaluation: Evaluation) -> str:
    """The model by its name alone."""
    return _of_all(evaluation, lambda x: x.model)


def data_set_of(evaluation: Evaluation) -> str:
    """The data set, and where it is of a file which one."""
    origin = evaluation.dataset
    return " ".join(each for each in (origin.name, origin.file_sha256[:12]) if each)


def parameters_of(evaluation: Evaluation) -> Mapping[str, str | float]:
    """The parameters that a data set has of its own, such as a rate in what it is drawn by."""
    found = {
        field.name: getattr(evaluation.dataset, field.name)
        for field in fields(evaluation.dataset)
        if field.name not in _OF_EVERY_DATASET
    }
    return {name: "not set" if value is None else value for name, value in found.items()}


def questions_of(evaluation: Evaluation) -> str:
    """How many questions there are and which."""
    origin = evaluation.dataset
    return f"{origin.questions} of SHA-256 {origin.checksum[:12]}"


def scorer_of(evaluation: Evaluation) -> str:
    """The scorer and its controls."""
    return _of_all(evaluation, lambda x: f"{x.scorer} {x.scorer_revision}" if x.scorer else "")


def index_of(evaluation: Evaluation) -> str:
    """The index of the passages."""
    return _of_all(evaluation, lambda x: f"{x.index} {x.index_version}" if x.index_version else "")


def layout_of(evaluation: Evaluation) -> str:
    """The prompt layout."""
    return _of_all(evaluation, lambda x: x.prompt_profile)


def budget_of(evaluation: Evaluation) -> str:
    """What an answer may spend."""
    budget = evaluation.budget
    return ", ".join(f"{each.name} {getattr(budget, each.name):g}" for each in fields(budget))


def grid_of(evaluation: Evaluation) -> str:
    """How many thetas a policy were placed by its own scores."""
    return f"of {evaluation.grid.size}" if evaluation.grid else "not laid"


def policies_of(evaluation: Evaluation) -> tuple[str, ...]:
    """The policies that were to be asked, those that the model cannot serve with them."""
    asked = (*evaluation.settings, *(each.setting for each in evaluation.left_out))
    return tuple(dict.fromkeys(contender_name(each.policy, each.scorer) for each in asked))


def _of_all(evaluation: Evaluation, told: Callable[[Provenance], str]) -> str:
    """What there is to tell of all settings, each thing once."""
    found = sorted({told(made) for made in evaluation.provenance.values()} - {""})
    return ", ".join(found) or "none"
