"""``scaar eval run``: questions under settings, asked into a folder until all of them are there."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from scaar import __version__
from scaar.cli.eval_answerer import Evaluated, open_evaluated
from scaar.cli.eval_dataset import Drawn
from scaar.cli.eval_progress import EvaluationProgress
from scaar.cli.eval_targets import Targets, check_targets
from scaar.compose import EMBEDDED
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.policies.needs import needs_retriever
from scaar.core.ports import Answerer
from scaar.core.types import AnswerRequest, BudgetLimits
from scaar.evaluator.execution import examples
from scaar.evaluator.execution.opening import split_served
from scaar.evaluator.grid.first_pass import lay_grid
from scaar.evaluator.planning.template import check_questions
from scaar.evaluator.records import Setting
from scaar.evaluator.results import LeftOut, Results, told_left_out
from scaar.evaluator.run import Run, run_in_folder
from scaar.evaluator.store.folder import FIRST_PASS, check_folder


@dataclass(frozen=True, slots=True)
class Wanted:
    """An evaluation as the command line asks for it."""

    drawn: Drawn
    settings: tuple[Setting, ...]
    out: Path
    index: str | None
    concurrency: int
    targets: Targets
    timeout_s: float
    retry_failed: bool = False
    grid: int | None = None
    skip_unserved: bool = False
    keep_generations: bool = False

    @property
    def controls(self) -> tuple[Control, ...]:
        """The controls of the scorer that settings are asked with, each once."""
        asked = (each.scorer for each in self.settings)
        return tuple(dict.fromkeys(each for each in asked if each is not None))


def evaluate(wanted: Wanted) -> Results:
    """Asks what is not answered yet; the results, all of them.

    Raises:
        InvalidRequest: something of what is wanted is wrong; nothing has been asked or written.
    """
    check_targets(wanted.targets, wanted.controls)
    if wanted.keep_generations and wanted.targets.itself != EMBEDDED:
        text = "is of an embedded loop only: a running orchestrator keeps no generations"
        raise InvalidRequest.of("--keep-generations", text)
    template = template_of(wanted)
    check_folder(wanted.out, wanted.drawn.origin, grid=wanted.grid)
    progress = EvaluationProgress(Console(stderr=True, highlight=False))
    with resumable(progress, wanted.out):
        return asyncio.run(_evaluate(wanted, template, progress))


def template_of(wanted: Wanted) -> AnswerRequest:
    """The request of every question, checked with each of them.

    Raises:
        InvalidRequest: an index is needed and not named, or a limit or a question is wrong.
    """
    retrieving = any(needs_retriever(each.policy) for each in wanted.settings)
    index = wanted.index or wanted.drawn.index
    if index is None and retrieving:
        name = wanted.drawn.origin.name
        text = f"name the index of the passages for data set {name}: a policy retrieves"
        raise InvalidRequest.of("--index", text)
    budget = BudgetLimits(timeout_s=wanted.timeout_s)
    template = AnswerRequest("", wanted.settings[0].policy, index=index or "none", budget=budget)
    check_questions(template, wanted.drawn.questions)
    return template


@contextmanager
def resumable(progress: EvaluationProgress, out: Path) -> Iterator[None]:
    """What ends the block early says how to go on."""
    try:
        yield
    except InvalidRequest:
        raise
    except (KeyboardInterrupt, ScaarError):
        if progress.total:
            kept = f"{progress.done} of {progress.total} {progress.what}"
            progress.say(f"{progress.name}: stopped; {kept} are kept in {out}")
            progress.say("the same command goes on with it")
        raise


async def _evaluate(
    wanted: Wanted, template: AnswerRequest, progress: EvaluationProgress
) -> Results:
    drawn, settings, grid = wanted.drawn, wanted.settings, None
    opening = open_evaluated(
        wanted.targets,
        lab_world=drawn.lab_world,
        controls=wanted.controls,
        keep_generations=wanted.keep_generations,
    )
    async with opening as evaluated:
        template = await with_examples(evaluated.answerer, template, drawn)
        run = run_of(wanted, evaluated, template, progress)
        left_out: tuple[LeftOut, ...] = ()
        if wanted.skip_unserved:
            opened = replace(template, question=drawn.questions[0].question)
            settings, left_out = await split_served(
                evaluated.answerer, settings, opened, controls=evaluated.controls
            )
            for told in told_left_out(left_out):
                progress.say(f"left out, because the model cannot serve them: {told}")
        if wanted.grid is not None:
            progress.name = "first pass"
            settings, grid = await lay_grid(
                run,
                wanted.out / FIRST_PASS,
                settings,
                drawn.questions,
                origin=drawn.origin,
                size=wanted.grid,
            )
        progress.name = "asking"
        return await run_in_folder(
            run,
            wanted.out,
            settings,
            drawn.questions,
            origin=drawn.origin,
            grid=grid,
            left_out=left_out,
        )


async def with_examples(answerer: Answerer, template: AnswerRequest, drawn: Drawn) -> AnswerRequest:
    """The template with the examples that suit the data set, where the model's layout shows any."""
    opened = replace(template, question=drawn.questions[0].question)
    shown = await examples.with_examples(answerer, opened, drawn.kind)
    return replace(shown, question=template.question)


def run_of(
    wanted: Wanted, evaluated: Evaluated, template: AnswerRequest, progress: EvaluationProgress
) -> Run:
    """How what is wanted is run."""
    return Run(
        answerer=evaluated.answerer,
        template=template,
        scaar=__version__,
        now=datetime.now(UTC).isoformat(timespec="seconds"),
        concurrency=wanted.concurrency,
        watch=progress.watch,
        retry_failed=wanted.retry_failed,
        controls=evaluated.controls,
        generations_kept=wanted.keep_generations,
    )
