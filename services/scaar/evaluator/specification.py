"""The specification of an evaluation that the service has checked, drawn and planned."""

from dataclasses import dataclass, replace

from scaar.core.types import AnswerForm, AnswerRequest, BudgetLimits, Filter
from scaar.evaluator.records import Setting
from scaar.evaluator.results import DatasetOrigin, LeftOut


@dataclass(frozen=True, slots=True)
class EvaluationSpec:
    """What an evaluation runs; two requests with equal specifications are the same request.

    ``dataset`` identifies the questions by their checksum. ``index`` is empty if no setting
    retrieves and no index is known. With ``theta_candidates``, that many thresholds of every
    setting are placed by a first pass. With ``cache_generations``, settings share generations.
    ``max_retrievals`` is the limit of one answer. ``filters`` are those of every retrieval: the
    mandatory ones of the caller on each of the indexes.
    """

    dataset: DatasetOrigin
    settings: tuple[Setting, ...]
    index: str
    timeout_s: float
    theta_candidates: int | None = None
    skip_unserved: bool = False
    cache_generations: bool = False
    max_retrievals: int | None = None
    filters: tuple[Filter, ...] = ()
    prompt_profile: str = ""
    """Prompt profile of every answer; empty for that of evaluations with the model."""


@dataclass(frozen=True, slots=True)
class PlannedSettings:
    """The settings that a started evaluation runs, and those that the model cannot serve."""

    settings: tuple[Setting, ...]
    left_out: tuple[LeftOut, ...] = ()


def template_of(spec: EvaluationSpec, request_id: str = "") -> AnswerRequest:
    """Return the request of every question, except for the question and the policy.

    ``request_id`` is the id of the evaluation, which every service logs.
    """
    budget = BudgetLimits(timeout_s=spec.timeout_s)
    if spec.max_retrievals is not None:
        budget = replace(budget, max_retrievals=spec.max_retrievals)
    return AnswerRequest(
        "",
        spec.settings[0].policy,
        index=spec.index or "none",
        filters=spec.filters,
        budget=budget,
        prompt_profile=spec.prompt_profile,
        request_id=request_id,
        answer=AnswerForm.SHORT,
    )
