"""The options that the runs of ``scaar eval`` share, and what runs with them: a folder or a target.

A command that takes ``shared: RunOptions`` and is decorated with :func:`takes_run_options` has
these options as its own.
"""

import asyncio
import inspect
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from scaar.cli.eval import options
from scaar.cli.eval.fields import draw, named_by_options, parse_addresses
from scaar.cli.eval.progress import EvaluationProgress
from scaar.cli.eval.service import evaluate_at
from scaar.cli.eval.table import score_and_report
from scaar.cli.notes import print_notes
from scaar.cli.tables import Format
from scaar.compose import tuned_policies_of
from scaar.core.errors import (
    AlreadyExists,
    CapabilityMissing,
    DataCorrupt,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    ScaarError,
    Unauthenticated,
    WrongState,
)
from scaar.core.evaluations import EvaluationRequest
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.tenancy import DEFAULT_TENANT
from scaar.core.types import PolicyArtefact
from scaar.evaluation.local import EvaluationOptions, check_options, evaluate_locally
from scaar.evaluation.questions import sending_note
from scaar.evaluator.planning.axes import axes_of
from scaar.evaluator.records import Question, Setting
from scaar.evaluator.results import Results

_LASTING = (
    AlreadyExists,
    CapabilityMissing,
    DataCorrupt,
    NotFound,
    PermissionDenied,
    Unauthenticated,
    WrongState,
)
"""Errors that the same command would meet again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run that say nothing of its settings."""

    grid: options.Grid = None
    limit: options.Limit = None
    seed: options.Seed = None
    style: options.Style = None
    tail_share: options.TailShare = None
    freedom: options.Freedom = None
    aliases: options.Aliases = None
    index: options.Indexes = None
    concurrency: options.OptionalConcurrency = None
    timeout: options.Timeout = options.TIMEOUT_S
    address: options.Addresses = None
    retry_failed: options.RetryFailed = False
    skip_unserved: options.SkipUnserved = False
    prompt_profile: options.ProfileName = ""
    cache_generations: options.CacheGenerations = False
    request_id: options.RequestId = ""
    tenant: options.Tenant = None
    detach: options.Detach = False
    output: Format = None

    def indexes(self) -> tuple[str, ...]:
        """Return the names of the indexes to compare."""
        return options.index_names(self.index)

    def tuned_policies(self) -> TunedPolicies:
        """Return the tuned policies of the orchestrator that answers."""
        return asyncio.run(tuned_policies_of(parse_addresses(self.address or []).itself))

    def run(
        self,
        dataset: str,
        settings: tuple[Setting, ...],
        *,
        out: Path | None,
        target: str | None,
        artefacts: tuple[PolicyArtefact, ...] = (),
    ) -> None:
        """Evaluate into the folder ``out``, or on the evaluator ``target``.

        Raises:
            InvalidRequest: both are given or neither, or an option of the other one; nothing was
                written or sent.
            Exit: the evaluation failed, or a question of a folder; the status is 1.
        """
        if (out is None) == (target is None):
            raise InvalidRequest.of("--out", "or --target must be given, but not both")
        if out is not None:
            _refuse(
                {"--request-id": self.request_id, "--tenant": self.tenant, "--detach": self.detach},
                "--out: it needs --target",
            )
            self._run_here(dataset, settings, out, artefacts)
        elif target is not None:
            _refuse(
                {
                    "--concurrency": self.concurrency,
                    "--address": self.address,
                    "--policy-file": [*artefacts],
                    "--retry-failed": self.retry_failed,
                    "--prompt-profile": self.prompt_profile,
                },
                "--target: it needs --out",
            )
            with named_by_options():
                request, questions = self._request(dataset, settings), self._questions(dataset)
                evaluate_at(target, request, questions, detach=self.detach, output=self.output)

    def _run_here(
        self,
        dataset: str,
        settings: tuple[Setting, ...],
        out: Path,
        artefacts: tuple[PolicyArtefact, ...],
    ) -> None:
        evaluation = EvaluationOptions(
            drawn=draw(
                dataset,
                limit=self.limit,
                seed=self.seed,
                style=self.style,
                tail_share=self.tail_share,
                freedom=self.freedom,
                aliases=self.aliases,
            ),
            settings=settings,
            out=out,
            index=next(iter(self.indexes()), None),
            concurrency=self.concurrency or options.CONCURRENCY,
            addresses=parse_addresses(self.address or []),
            timeout_s=self.timeout,
            retry_failed=self.retry_failed,
            grid=self.grid,
            skip_unserved=self.skip_unserved,
            cache_generations=self.cache_generations,
            artefacts=artefacts,
            prompt_profile=self.prompt_profile,
        )
        with named_by_options():
            results = evaluate(evaluation)
        if score_and_report(results, out, self.output):
            raise typer.Exit(1)

    def _request(self, dataset: str, settings: Sequence[Setting]) -> EvaluationRequest:
        axes = axes_of(settings)
        name, _, path = dataset.partition(":")
        return EvaluationRequest(
            policies=axes.policies,
            dataset="" if path else name,
            limit=self.limit,
            seed=self.seed,
            scorers=axes.scorers,
            indexes=self.indexes(),
            timeout_s=self.timeout,
            # A random key, so that a retried call does not create a second evaluation.
            request_id=self.request_id or uuid.uuid4().hex,
            theta_candidates=self.grid,
            skip_unserved=self.skip_unserved,
            cache_generations=self.cache_generations,
            style=self.style,
            tail_share=self.tail_share,
            freedom=self.freedom,
            tenant=self.tenant or DEFAULT_TENANT,
        )

    def _questions(self, dataset: str) -> tuple[Question, ...]:
        """The questions to send: those of a file."""
        if ":" in dataset:
            drawn = draw(dataset, limit=None, seed=None, aliases=self.aliases)
            if note := sending_note(drawn.kind):
                print_notes(note)
            return drawn.questions
        if self.aliases is not None:
            text = "needs the file of the data set: --dataset NAME:PATH"
            raise InvalidRequest.of("--aliases", text)
        return ()


def takes_run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``shared`` of a command by the fields of :class:`RunOptions`."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(each.name, keyword, default=each.default, annotation=each.type)
        for each in fields(RunOptions)
    ]
    parameters: list[inspect.Parameter] = []
    for each in inspect.signature(command).parameters.values():
        parameters += shared if each.name == "shared" else [each.replace(kind=keyword)]

    @wraps(command)
    def with_options(**given: Any) -> None:
        of_run = {each.name: given.pop(each.name) for each in shared}
        command(**given, shared=RunOptions(**of_run))

    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def evaluate(evaluation: EvaluationOptions) -> Results:
    """Evaluate what has no prediction yet, and return all results.

    Raises:
        InvalidRequest: an option is invalid; no model was called and nothing was written.
    """
    check_options(evaluation)
    progress = EvaluationProgress()
    with resumable(progress, evaluation.out):
        return asyncio.run(evaluate_locally(evaluation, progress))


@contextmanager
def resumable(progress: EvaluationProgress, out: Path) -> Iterator[None]:
    """Report what is stored when an error or Ctrl-C ends the block, and how to resume if it can."""
    try:
        yield
    except InvalidRequest:
        raise
    except (KeyboardInterrupt, ScaarError) as error:
        if progress.total:
            stored = f"{progress.done} of {progress.total} {progress.what}"
            progress.say(f"{progress.name}: stopped; {out} has {stored}")
            if not isinstance(error, _LASTING):
                progress.say("run the same command again to resume")
        raise


def _refuse(given: Mapping[str, object], why: str) -> None:
    for name, value in given.items():
        # 0 is a value that was given, though it equals False.
        if value is not None and value is not False and value not in ("", []):
            raise InvalidRequest.of(name, f"cannot be combined with {why}")
