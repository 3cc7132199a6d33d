"""An evaluation in this process, into a folder that can be resumed."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from scaar import __version__
from scaar.compose import EMBEDDED
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.core.policies.requirements import needs_retriever
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest, BudgetLimits
from scaar.evaluation.addresses import Addresses, check_addresses
from scaar.evaluation.answerers import open_answerers
from scaar.evaluation.questions import QuestionSample
from scaar.evaluator.execution import provenance
from scaar.evaluator.execution.provenance import select_servable
from scaar.evaluator.execution.scorers import Answerers
from scaar.evaluator.planning.work import check_questions
from scaar.evaluator.records import Setting
from scaar.evaluator.results import LeftOut, Results, describe_left_out
from scaar.evaluator.run import OnStored, Run, run_in_folder
from scaar.evaluator.store.folder import FIRST_PASS, check_folder
from scaar.evaluator.studies.grid.first_pass import place_grid


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

    @property
    def controls(self) -> tuple[Control, ...]:
        """The scorer controls of the settings, without duplicates."""
        controls = (each.scorer for each in self.settings)
        return tuple(dict.fromkeys(each for each in controls if each is not None))


class Progress(Protocol):
    """What shows the progress of an evaluation."""

    name: str
    """The current pass."""

    def watch(self, total: int, before: int) -> AbstractContextManager[OnStored]:
        """Show the predictions that are stored in the block; ``before`` of ``total`` exist."""
        ...

    def say(self, text: str) -> None:
        """Show a line of text."""
        ...


def template_of(options: EvaluationOptions) -> AnswerRequest:
    """Return the request of every question, validated with each of them.

    Raises:
        InvalidRequest: a required index is missing, or a limit or a question is invalid.
    """
    retrieving = any(needs_retriever(each.policy) for each in options.settings)
    index = options.index or options.drawn.index
    if index is None and retrieving:
        name = options.drawn.origin.name
        text = f"is required: a policy retrieves, and the data set {name} has no default index"
        raise InvalidRequest.of("indexes", text)
    budget = BudgetLimits(timeout_s=options.timeout_s)
    template = AnswerRequest("", options.settings[0].policy, index=index or "none", budget=budget)
    check_questions(template, options.drawn.questions)
    return template


def check_options(options: EvaluationOptions) -> None:
    """Check the options that need no model; nothing is written.

    Raises:
        InvalidRequest: naming every invalid option.
    """
    check_addresses(options.addresses, options.controls)
    if options.cache_generations and options.addresses.itself != EMBEDDED:
        text = "works with an embedded loop only: a running orchestrator has no generation cache"
        raise InvalidRequest.of("cache_generations", text)
    template_of(options)
    check_folder(options.out, options.drawn.origin, grid=options.grid)


async def evaluate_locally(options: EvaluationOptions, progress: Progress) -> Results:
    """Make the predictions that the folder lacks, and return all results.

    Raises:
        InvalidRequest: the folder belongs to another evaluation, or another run is using it.
        ScaarError: a setting cannot be answered, or a prediction cannot be stored.
    """
    template = template_of(options)
    drawn, settings, grid = options.drawn, options.settings, None
    opened_answerers = open_answerers(
        options.addresses,
        lab_world=drawn.lab_world,
        controls=options.controls,
        cache_generations=options.cache_generations,
    )
    async with opened_answerers as answerers:
        template = await with_examples(answerers.answerer, template, drawn)
        run = run_of(options, answerers, template, progress)
        left_out: tuple[LeftOut, ...] = ()
        if options.skip_unserved:
            opened = replace(template, question=drawn.questions[0].question)
            settings, left_out = await select_servable(
                answerers.answerer, settings, opened, controls=answerers.controls
            )
            for text in describe_left_out(left_out):
                progress.say(f"left out, because the model cannot serve them: {text}")
        if options.grid is not None:
            progress.name = "first pass"
            settings, grid = await place_grid(
                run,
                options.out / FIRST_PASS,
                settings,
                drawn.questions,
                origin=drawn.origin,
                size=options.grid,
            )
        progress.name = "evaluating"
        return await run_in_folder(
            run,
            options.out,
            settings,
            drawn.questions,
            origin=drawn.origin,
            grid=grid,
            left_out=left_out,
        )


async def with_examples(
    answerer: Answerer, template: AnswerRequest, drawn: QuestionSample
) -> AnswerRequest:
    """Return the template with the data set's few-shot examples, if the prompt layout has any."""
    opened = replace(template, question=drawn.questions[0].question)
    extended = await provenance.with_examples(answerer, opened, drawn.kind)
    return replace(extended, question=template.question)


def run_of(
    options: EvaluationOptions,
    answerers: Answerers,
    template: AnswerRequest,
    progress: Progress,
) -> Run:
    """Return the run of these options."""
    return Run(
        answerer=answerers.answerer,
        template=template,
        scaar=__version__,
        now=datetime.now(UTC).isoformat(timespec="seconds"),
        concurrency=options.concurrency,
        watch=progress.watch,
        retry_failed=options.retry_failed,
        controls=answerers.controls,
        generations_cached=options.cache_generations,
    )
