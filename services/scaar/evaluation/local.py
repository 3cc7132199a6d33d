"""An evaluation in this process, into a folder that can be resumed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose import EMBEDDED
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.policies.requirements import needs_retriever
from scaar.core.types import PolicyArtefact
from scaar.evaluation.addresses import Addresses, check_addresses
from scaar.evaluation.answerers import open_answerers
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.execution.scorers import Answerers
from scaar.evaluator.planning.work import check_questions
from scaar.evaluator.records import Setting
from scaar.evaluator.results import Results
from scaar.evaluator.specification import EvaluationSpec, template_of
from scaar.evaluator.store.folder import check_folder

if TYPE_CHECKING:
    from scaar.evaluator.execution.progress import RunProgress
    from scaar.evaluator.run import Run


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """The options of an evaluation on the command line."""

    drawn: QuestionSample
    settings: tuple[Setting, ...]
    out: Path
    index: str | None
    concurrency: int
    addresses: Addresses
    timeout_s: float
    retry_failed: bool = False
    grid: int | None = None
    skip_unserved: bool = False
    cache_generations: bool = False
    artefacts: tuple[PolicyArtefact, ...] = ()
    """Artefacts of the tuned policies among the settings."""
    prompt_profile: str = ""
    """Prompt profile of every answer; empty for that of evaluations with the model."""

    @property
    def controls(self) -> tuple[Control, ...]:
        """The scorer controls of the settings, without duplicates."""
        controls = (each.scorer for each in self.settings)
        return tuple(dict.fromkeys(each for each in controls if each is not None))


def spec_of(options: EvaluationOptions) -> EvaluationSpec:
    """Return the specification of the evaluation, validated with each of its questions.

    Raises:
        InvalidRequest: a required index is missing, or a limit or a question is invalid.
    """
    retrieving = any(needs_retriever(each.policy) for each in options.settings)
    index = options.index or options.drawn.index
    if index is None and retrieving:
        name = options.drawn.origin.name
        text = f"is required: a policy retrieves, and the data set {name} has no default index"
        raise InvalidRequest.of("indexes", text)
    spec = EvaluationSpec(
        *(options.drawn.origin, options.settings, index or "", options.timeout_s),
        theta_candidates=options.grid,
        skip_unserved=options.skip_unserved,
        cache_generations=options.cache_generations,
        prompt_profile=options.prompt_profile,
    )
    check_questions(template_of(spec), options.drawn.questions)
    return spec


def check_options(options: EvaluationOptions) -> None:
    """Check the options that need no model; nothing is written.

    Raises:
        InvalidRequest: naming every invalid option.
    """
    check_addresses(options.addresses, options.controls)
    if options.cache_generations and options.addresses.itself != EMBEDDED:
        text = "works with an embedded loop only: a running orchestrator has no generation cache"
        raise InvalidRequest.of("cache_generations", text)
    if options.artefacts and options.addresses.itself != EMBEDDED:
        text = "works with an embedded loop only: a running orchestrator has artefacts of its own"
        raise InvalidRequest.of("policy_file", text)
    check_folder(options.out, spec_of(options))


async def evaluate_locally(options: EvaluationOptions, progress: "RunProgress") -> Results:
    """Make the predictions that the folder lacks, and return all results.

    Raises:
        InvalidRequest: the folder belongs to another evaluation, or another run is using it.
        ScaarError: a setting cannot be answered, or a prediction cannot be stored.
    """
    # Only commands that run evaluations load the libraries of the database.
    from scaar.evaluator.run import run_in_folder

    opened_answerers = open_answerers(
        options.addresses,
        lab_world=options.drawn.lab_world,
        controls=options.controls,
        cache_generations=options.cache_generations,
        artefacts=options.artefacts,
    )
    async with opened_answerers as answerers:
        return await run_in_folder(
            run_of(options, answerers, progress),
            options.out,
            spec_of(options),
            options.drawn.questions,
        )


def run_of(options: EvaluationOptions, answerers: Answerers, progress: "RunProgress") -> "Run":
    """Return the run of these options."""
    from scaar.evaluator.run import Run

    return Run(answerers, options.concurrency, progress, options.retry_failed)
