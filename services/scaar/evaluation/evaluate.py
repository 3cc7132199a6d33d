"""One evaluation from Python, in this process or by a running evaluator."""

import uuid
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from scaar.client.loop_thread import LoopThread
from scaar.client.requests import each_of, setting_value
from scaar.compose import EMBEDDED, FOLDER, tuned_policies_of
from scaar.core.errors import InvalidRequest, ScaarError, Violation
from scaar.core.evaluations import EvaluationQuestion
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import NO_POLICIES
from scaar.core.policies.settings import SETTINGS
from scaar.core.types import ANSWER_TIMEOUT_S, PolicyRequest
from scaar.core.value_types import check_arguments, wrong_path
from scaar.evaluation.addresses import Addresses
from scaar.evaluation.evaluator import open_evaluations
from scaar.evaluation.field_names import named_by
from scaar.evaluation.local import EvaluationOptions, check_options, evaluate_locally
from scaar.evaluation.progress import BarProgress
from scaar.evaluation.questions import draw, sending_note
from scaar.evaluation.results import Results, of_service, of_stored
from scaar.evaluator.oracles import oracle_parts
from scaar.evaluator.planning.axes import (
    check_index_names,
    scorers_named,
    with_indexes,
    with_scorers,
)
from scaar.evaluator.planning.gates import gates_named, with_gates
from scaar.evaluator.planning.policies import plan_policies
from scaar.evaluator.planning.settings import Value, check_no_values, setting_of
from scaar.evaluator.prediction_view import describe_question
from scaar.evaluator.studies.grid.candidates import check_grid, check_gridded
from scaar.runtime.targets import check_target

_Value = TypeVar("_Value")
MAX_CONCURRENCY = 64
"""Maximum number of concurrent questions of an evaluation in this process."""

_TIMEOUT_S = ANSWER_TIMEOUT_S
_NO_VALUES: Mapping[str, Sequence[Value]] = MappingProxyType({})


_ARGUMENTS: Mapping[str, str] = MappingProxyType(
    {
        "--out": "out",
        "--target": "target",
        "addresses": "orchestrator",
        "budget.timeout_s": "timeout_s",
        "count": "limit",
        "path": "dataset",
        "theta_candidates": "grid",
    }
)
"""The argument of a field that has another name."""


def _argument_of(field: str) -> str:
    if field.startswith("grid."):
        return f"values.{field.removeprefix('grid.')}"
    return _ARGUMENTS.get(field, field)


@named_by(_argument_of)
@oracle_parts()
def evaluate(
    dataset: str,
    policies: str | Sequence[str | PolicyRequest],
    *,
    out: Path | str | None = None,
    target: str | None = None,
    values: Mapping[str, Value | Sequence[Value]] = _NO_VALUES,
    scorers: str | Sequence[str] = (),
    gates: str | Sequence[str] = (),
    indexes: str | Sequence[str] = (),
    grid: int | None = None,
    limit: int | None = None,
    seed: int | None = None,
    style: float | None = None,
    tail_share: float | None = None,
    freedom: float | None = None,
    concurrency: int = 4,
    timeout_s: float = _TIMEOUT_S,
    orchestrator: str = EMBEDDED,
    skip_unserved: bool = False,
    cache_generations: bool = False,
    retry_failed: bool = False,
    progress: bool = True,
) -> Results:
    """Evaluate policies on a data set, and return the results.

    With ``out``, the evaluation runs in this process, into that folder, and resumes there when it
    is called again. With ``target``, such as ``dns:///host:50056``, a running evaluator runs it;
    with ``embedded:DIR``, one in this process with the database of that folder. Exactly one of
    ``out`` and ``target`` is given. If Ctrl-C or an error ends the call before the evaluation of a
    target has ended, a note of the exception names the evaluation, and how to watch or cancel it.

    ``dataset`` is ``lab`` or ``NAME:PATH``; for a target also the name of one of its data sets.
    The questions of a file are sent to a target, which evaluates them as ``jsonl``; a warning says
    so for another data set. ``policies`` are names, or requests with overrides;
    tuned policies go by their names.
    Every policy is evaluated at each combination of the ``values`` that it takes, by the name of
    the setting. ``scorers``, ``gates``, ``indexes``, ``grid``, ``limit``, ``seed``, ``style``,
    ``tail_share``, ``freedom``, ``skip_unserved`` and ``cache_generations`` are those of
    ``scaar eval run``. ``retry_failed`` needs ``out``; ``concurrency``, the number of concurrent
    questions, 1 to 64, and ``orchestrator`` have no effect on a target, which has its own.
    ``timeout_s`` is the time limit of one answer, in seconds. ``progress`` shows a progress bar
    if ``scaar[notebook]`` is installed. On ``lab``, policies and queries can be oracles
    (:mod:`scaar.evaluator.oracles`).

    Raises:
        InvalidRequest: naming every invalid argument; no model was called.
        ScaarError: the evaluation failed. With ``out``, stored predictions are kept.
    """
    if (out is None) == (target is None):
        raise InvalidRequest.of("out", "or target must be given, but not both")
    if out is not None and (wrong := list(wrong_path(out, "out"))):
        raise InvalidRequest(wrong)
    scorers, gates, indexes = each_of(scorers), each_of(gates), each_of(indexes)
    given = each_of(policies)
    requests = [PolicyRequest(each) if isinstance(each, str) else each for each in given]
    check_arguments(
        policies=(tuple(requests), tuple[PolicyRequest, ...]),
        dataset=(dataset, str),
        target=(target, str | None),
        scorers=(scorers, tuple[str, ...]),
        gates=(gates, tuple[str, ...]),
        indexes=(indexes, tuple[str, ...]),
        grid=(grid, int | None),
        limit=(limit, int | None),
        seed=(seed, int | None),
        style=(style, float | None),
        tail_share=(tail_share, float | None),
        freedom=(freedom, float | None),
        concurrency=(concurrency, int),
        timeout_s=(timeout_s, float),
        orchestrator=(orchestrator, str),
        skip_unserved=(skip_unserved, bool),
        cache_generations=(cache_generations, bool),
        retry_failed=(retry_failed, bool),
    )
    if not requests:
        raise InvalidRequest.of("policies", "must name at least one")
    if orchestrator != EMBEDDED:
        check_target(orchestrator, field="orchestrator")
    if not 1 <= concurrency <= MAX_CONCURRENCY:
        raise InvalidRequest.of("concurrency", f"must be 1 to {MAX_CONCURRENCY}, not {concurrency}")
    grid_values = _settings(values)
    if grid is not None:
        check_grid(grid, grid_values)
    named = [each for each in requests if each.name not in PRESETS]
    if target is None:
        tuned = _run(partial(tuned_policies_of, orchestrator)) if named else NO_POLICIES
        settings = plan_policies(requests, grid_values, tuned)
    else:
        published = [each for each in requests if each.name in PRESETS]
        if published:
            settings = plan_policies(published, grid_values)
        else:
            settings = ()
            check_no_values(grid_values, [each.label for each in named])
        settings = (*settings, *map(setting_of, named))
    settings = with_gates(settings, gates_named(gates))
    if grid is not None:
        check_gridded(settings)
    check_index_names(indexes)
    shown = BarProgress(enabled=progress)
    if target is not None:
        if retry_failed:
            raise InvalidRequest.of("retry_failed", "needs out: an evaluator has no such option")
        evaluation_id = _evaluate_at(
            target,
            dataset,
            [each.policy for each in settings],
            shown,
            limit=limit,
            seed=seed,
            style=style,
            tail_share=tail_share,
            freedom=freedom,
            indexes=indexes,
            scorers=scorers,
            timeout_s=timeout_s,
            theta_candidates=grid,
            skip_unserved=skip_unserved,
            cache_generations=cache_generations,
        )
        return of_service(target, evaluation_id)
    assert out is not None
    if scorers:
        settings = with_scorers(settings, scorers_named(scorers))
    options = EvaluationOptions(
        drawn=draw(
            dataset, limit=limit, seed=seed, style=style, tail_share=tail_share, freedom=freedom
        ),
        settings=with_indexes(settings, indexes),
        out=Path(out),
        index=indexes[0] if indexes else None,
        concurrency=concurrency,
        addresses=Addresses(orchestrator),
        timeout_s=timeout_s,
        retry_failed=retry_failed,
        grid=grid,
        skip_unserved=skip_unserved,
        cache_generations=cache_generations,
    )
    check_options(options)
    return of_stored(_run(partial(evaluate_locally, options, shown)))


def _settings(values: object) -> dict[str, tuple[Value, ...]]:
    """Return the values of each setting.

    Raises:
        InvalidRequest: naming a setting without values, or with a value of the wrong type.
    """
    if not isinstance(values, Mapping):
        raise InvalidRequest.of("values", f"must map settings to values, not be {values!r:.80}")
    found = {name: each_of(several) for name, several in values.items()}
    wrong = []
    for name, several in found.items():
        if not several:
            wrong.append(Violation(f"values.{name}", "must have at least one value"))
        if name in SETTINGS:
            try:
                found[name] = tuple(setting_value(SETTINGS[name].kind, each) for each in several)
            except ValueError as error:
                wrong.append(Violation(f"values.{name}", str(error)))
    if wrong:
        raise InvalidRequest(wrong)
    return found


def _evaluate_at(
    target: str, dataset: str, policies: Sequence[PolicyRequest], shown: BarProgress, **more: Any
) -> str:
    """Return the id of an evaluation that the evaluator has run to its end.

    Raises:
        ScaarError: the evaluation failed or was cancelled.
    """
    name, _, path = dataset.partition(":")
    questions: list[EvaluationQuestion] = []
    if path:
        drawn = draw(dataset, limit=None, seed=None)
        if note := sending_note(drawn.kind):
            warnings.warn(note, stacklevel=3)
        questions = [describe_question(each) for each in drawn.questions]
    with open_evaluations(target, run=True) as client:
        created = client.create_evaluation(
            policies,
            dataset="" if path else name,
            questions=questions,
            # A retried call does not create a second evaluation.
            request_id=uuid.uuid4().hex,
            **more,
        )
        done, ended = 0, created
        try:
            with (
                client.watch_evaluation(created.id) as changes,
                shown.watch(created.total, 0) as count,
            ):
                for each in changes:
                    ended = each.evaluation
                    for _ in range(ended.done - done):
                        count(None)
                    done = ended.done
        except (KeyboardInterrupt, ScaarError) as error:
            error.add_note(_unwatched(created.id, target))
            raise
    if ended.state != "succeeded":
        reason = f": {ended.error.message}" if ended.error else ""
        raise ScaarError(f"evaluation {ended.id} is {ended.state}{reason}")
    return ended.id


def _unwatched(evaluation_id: str, target: str) -> str:
    """How to watch or cancel an evaluation that this call no longer watches."""
    goes_on = "can be continued" if target.startswith(FOLDER) else "continues"
    watch, cancel = (
        f"scaar eval {command} {evaluation_id} --target {target}" for command in ("watch", "cancel")
    )
    return (
        f"evaluation {evaluation_id} {goes_on}: watch it with {watch}, or cancel it with {cancel}"
    )


def _run(work: Callable[[], Coroutine[Any, Any, _Value]]) -> _Value:
    """Run work to its end in a thread of its own: a notebook has a running loop."""
    with LoopThread() as thread:
        return thread.run(work())
