"""The specification of a request; every field is checked before any question is read."""

import asyncio
import math
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scaar.core.access import EVERY_INDEX, IndexAccess
from scaar.core.controls import Control
from scaar.core.errors import DataCorrupt, InvalidRequest, Violation
from scaar.core.evaluations import MAX_SETTINGS, EvaluationQuestion, EvaluationRequest
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import NO_POLICIES, TunedPolicies
from scaar.core.policies.requirements import needs_retriever
from scaar.core.validation import MAX_REQUEST_ID_CHARACTERS, MAX_TIMEOUT_S
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.datasets.plain import JSONL
from scaar.evaluator.datasets.sample import DrawnQuestions, checksum_of, draw_questions, sampled
from scaar.evaluator.execution.scorers import Answerers
from scaar.evaluator.oracles import needs_world
from scaar.evaluator.planning.axes import (
    check_index_names,
    scorers_named,
    with_indexes,
    with_scorers,
)
from scaar.evaluator.planning.policies import plan_policies
from scaar.evaluator.planning.settings import Values
from scaar.evaluator.planning.work import check_questions
from scaar.evaluator.records import Question, Setting
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.service.access import readable_filters
from scaar.evaluator.service.uploads import collect_questions
from scaar.evaluator.specification import EvaluationSpec, template_of
from scaar.evaluator.splits import split_questions
from scaar.evaluator.studies.grid.candidates import check_grid, count_settings

MAX_TENANT_CHARACTERS = 128
MAX_SEED = 2**31
_NO_CACHE = "needs an evaluator with an embedded orchestrator: others have no generation cache"


async def no_policies() -> TunedPolicies:
    """Return no tuned policies."""
    return NO_POLICIES


@dataclass(frozen=True, slots=True)
class QuestionSources:
    """The data sets and limits of questions, and the policies and controls of evaluations.

    ``lab_index`` returns the name of the index of a lab world, and ``ensure_lab_index`` builds it
    if it is missing; by default, it is not built. ``caches_generations`` says whether answerers
    with cached generations are available. ``tuned_policies`` returns those of the orchestrator; it
    is called for requests that name a policy which is not published.
    """

    datasets: Mapping[str, Path]
    lab_index: Callable[[int], str]
    max_questions: int
    max_upload_bytes: int
    controls: Collection[Control] = ()
    caches_generations: bool = False
    ensure_lab_index: Callable[[int], Awaitable[object]] | None = None
    tuned_policies: Callable[[], Awaitable[TunedPolicies]] = no_policies


async def plan_request(
    request: EvaluationRequest,
    questions: AsyncIterable[EvaluationQuestion],
    sources: QuestionSources,
    *,
    access: IndexAccess = EVERY_INDEX,
) -> tuple[EvaluationSpec, tuple[Question, ...]]:
    """Return the specification of a request and its questions.

    ``access`` is that of the caller; every retrieval has its mandatory filters.

    Raises:
        InvalidRequest: naming every invalid field, or the first invalid question.
        NotFound: the caller may not read an index of the evaluation.
    """
    if wrong := list(_wrong(request, sources)):
        raise InvalidRequest(wrong)
    named = {each.name for each in request.policies} - {"", *PRESETS}
    tuned = await sources.tuned_policies() if named else NO_POLICIES
    settings = _settings(request, sources.controls, tuned)
    filters = readable_filters(access, request.indexes)
    if request.dataset:
        drawn = await _drawn(request, questions, sources)
    else:
        drawn = await _sent(request, questions, sources)
    retrieves = any(needs_retriever(each.policy) for each in settings)
    of_lab = not request.indexes and request.dataset == LAB.name
    index = sources.lab_index(drawn.origin.seed) if of_lab else next(iter(request.indexes), "")
    if of_lab and not retrieves and not access.may_read(index):
        index = ""
    if not index and retrieves:
        text = "is required: a policy retrieves, so name an index of its passages"
        raise InvalidRequest.of("indexes", text)
    if of_lab and index:
        filters = readable_filters(access, (index,))
    if of_lab and retrieves and sources.ensure_lab_index is not None:
        await sources.ensure_lab_index(drawn.origin.seed)
    if request.theta_candidates is not None:
        await asyncio.to_thread(_check_development, drawn)
    spec = EvaluationSpec(
        *(drawn.origin, settings, index, request.timeout_s),
        theta_candidates=request.theta_candidates,
        skip_unserved=request.skip_unserved,
        cache_generations=request.cache_generations,
        filters=filters,
    )
    await asyncio.to_thread(check_questions, template_of(spec), drawn.questions)
    return spec, drawn.questions


def _check_development(drawn: DrawnQuestions) -> None:
    if not split_questions(drawn.questions, seed=drawn.origin.seed).development:
        text = "has no question to place thresholds on: the development split is empty; use more"
        raise InvalidRequest.of("theta_candidates", f"{text} questions")


def requested_answerers(
    spec: EvaluationSpec, answerers: Answerers, cached: Answerers | None
) -> Answerers:
    """Return the answerers of an evaluation, with cached generations if it requests them.

    Raises:
        InvalidRequest: there are none with cached generations in this process.
    """
    if not spec.cache_generations:
        return answerers
    if cached is None:
        raise InvalidRequest.of("cache_generations", _NO_CACHE)
    return cached


def _wrong(request: EvaluationRequest, sources: QuestionSources) -> Iterator[Violation]:
    yield from _wrong_name("request_id", request.request_id, MAX_REQUEST_ID_CHARACTERS)
    if not request.tenant:
        yield Violation("tenant", "must not be empty")
    yield from _wrong_name("tenant", request.tenant, MAX_TENANT_CHARACTERS)
    known = (LAB.name, *sources.datasets)
    if request.dataset and request.dataset not in known:
        text = f"there is no data set {request.dataset!r} here; known: {', '.join(known)}"
        yield Violation("dataset", text)
    if not request.policies:
        yield Violation("policies", "must name at least one")
    for at, policy in enumerate(request.policies):
        if request.dataset != LAB.name and needs_world(policy):
            yield Violation(f"policies[{at}]", f"is an oracle, and needs the data set {LAB.name}")
    combinations = math.prod(max(1, len(values)) for values in _grid(request).values())
    if len(request.policies) > MAX_SETTINGS or combinations > MAX_SETTINGS:
        yield _too_many(max(len(request.policies), combinations))
    if request.cache_generations and not sources.caches_generations:
        yield Violation("cache_generations", _NO_CACHE)
    if request.limit is not None and not 1 <= request.limit <= sources.max_questions:
        text = f"must be 1 to {sources.max_questions:,}, not {request.limit:,}"
        yield Violation("limit", text)
    if request.seed is not None and not 0 <= request.seed <= MAX_SEED:
        yield Violation("seed", f"must be 0 to {MAX_SEED:,}, not {request.seed:,}")
    if not request.dataset:
        for field in ("style", "tail_share", "freedom"):
            if getattr(request, field) is not None:
                yield Violation(field, f"needs the data set {LAB.name}")
    if not 0 < request.timeout_s <= MAX_TIMEOUT_S:
        text = f"must be in (0, {MAX_TIMEOUT_S:g}], not {request.timeout_s:g}"
        yield Violation("timeout_s", text)


def _wrong_name(field: str, text: str, maximum: int) -> Iterator[Violation]:
    if len(text) > maximum:
        yield Violation(field, f"must have at most {maximum} characters, not {len(text)}")
    elif text and not (text.isascii() and text.isprintable() and text.strip() == text):
        limit = "must be printable ASCII, without white space at its ends"
        yield Violation(field, limit)


def _settings(
    request: EvaluationRequest, controls: Collection[Control], tuned: TunedPolicies
) -> tuple[Setting, ...]:
    scorers = scorers_named(request.scorers)
    for each in scorers:
        if each is not None and each not in controls:
            text = f"the control {each} is not available in this evaluator: it has no orchestrator"
            raise InvalidRequest.of("scorers", text)
    check_index_names(request.indexes)
    settings = plan_policies(request.policies, _grid(request), tuned)
    settings = with_scorers(settings, scorers) if scorers else settings
    settings = with_indexes(settings, request.indexes)
    if request.theta_candidates is not None:
        check_grid(request.theta_candidates, _grid(request), field="theta_candidates")
    if (count := count_settings(settings, request.theta_candidates or 1)) > MAX_SETTINGS:
        raise InvalidRequest((_too_many(count),))
    return settings


def _grid(request: EvaluationRequest) -> Values:
    grid = request.grid
    values: Values = {"theta": grid.theta, "alpha": grid.alpha, "top_k": grid.top_k}
    return {name: given for name, given in values.items() if given}


def _too_many(settings: int) -> Violation:
    return Violation(
        "policies", f"must result in at most {MAX_SETTINGS} settings, not {settings:,}"
    )


async def _drawn(
    request: EvaluationRequest,
    questions: AsyncIterable[EvaluationQuestion],
    sources: QuestionSources,
) -> DrawnQuestions:
    async for _ in questions:
        raise InvalidRequest.of("questions", f"cannot be sent with the data set {request.dataset}")
    path = sources.datasets.get(request.dataset)
    try:
        drawn = await asyncio.to_thread(
            draw_questions,
            request.dataset,
            "" if path is None else str(path),
            limit=request.limit,
            seed=request.seed,
            style=request.style,
            tail_share=request.tail_share,
            freedom=request.freedom,
        )
    except InvalidRequest as error:
        if path is None or str(path) not in error.message:
            raise
        # The file belongs to the service: its errors are no errors of the request.
        text = f"the file of the data set {request.dataset} cannot be used"
        raise DataCorrupt(text, detail=error.message) from error
    if len(drawn.questions) > sources.max_questions:
        text = (
            f"is required, at most {sources.max_questions:,}: {request.dataset} has "
            f"{len(drawn.questions):,} questions"
        )
        raise InvalidRequest.of("limit", text)
    return drawn


async def _sent(
    request: EvaluationRequest,
    questions: AsyncIterable[EvaluationQuestion],
    sources: QuestionSources,
) -> DrawnQuestions:
    found = await collect_questions(
        questions, max_questions=sources.max_questions, max_bytes=sources.max_upload_bytes
    )
    if not found:
        raise InvalidRequest.of("questions", "must not be empty if no data set is named")
    seed = request.seed or 0
    drawn = tuple(sampled(found, limit=request.limit, seed=seed))
    origin = DatasetOrigin(
        name=JSONL.name,
        path="",
        seed=seed,
        questions=len(drawn),
        checksum=await asyncio.to_thread(checksum_of, drawn),
        limit=request.limit,
    )
    return DrawnQuestions(JSONL, drawn, origin)
