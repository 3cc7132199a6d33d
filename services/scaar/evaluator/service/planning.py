"""From a request to what is asked: every field checked before any question is read."""

import asyncio
import math
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scaar.core.errors import DataCorrupt, InvalidRequest, Violation
from scaar.core.evaluations import MAX_SETTINGS, EvaluationQuestion, EvaluationRequest
from scaar.core.policies.needs import needs_retriever
from scaar.core.types import AnswerRequest, BudgetLimits
from scaar.core.validation import MAX_REQUEST_ID_CHARACTERS, MAX_TIMEOUT_S
from scaar.evaluator.asked import Asked
from scaar.evaluator.datasets.drawing import DrawnQuestions, draw_questions, sampled
from scaar.evaluator.datasets.jsonl import JSONL
from scaar.evaluator.datasets.lab import LAB
from scaar.evaluator.planning.policies import plan_policies
from scaar.evaluator.planning.settings import Values
from scaar.evaluator.planning.template import check_questions
from scaar.evaluator.records import Question, Setting
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.run import checksum_of
from scaar.evaluator.service.uploading import collected

MAX_TENANT_CHARACTERS = 128
MAX_SEED = 2**31


@dataclass(frozen=True, slots=True)
class Sources:
    """Where questions may come from, and how many; ``lab_index`` names a lab world's index."""

    datasets: Mapping[str, Path]
    lab_index: Callable[[int], str]
    max_questions: int
    max_upload_bytes: int


async def planned(
    request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion], sources: Sources
) -> tuple[Asked, tuple[Question, ...]]:
    """What is asked, and its questions.

    Raises:
        InvalidRequest: naming every wrong field, or the first question that is wrong.
    """
    if wrong := list(_wrong(request, sources)):
        raise InvalidRequest(wrong)
    settings = _settings(request)
    if request.dataset:
        drawn = await _drawn(request, questions, sources)
    else:
        drawn = await _sent(request, questions, sources)
    index = request.index
    if index is None and request.dataset == LAB.name:
        index = sources.lab_index(drawn.origin.seed)
    if not index and any(needs_retriever(each.policy) for each in settings):
        text = "must name the index of the passages: a policy retrieves"
        raise InvalidRequest.of("index", text)
    asked = Asked(drawn.origin, settings, index or "", request.timeout_s)
    await asyncio.to_thread(check_questions, template_of(asked), drawn.questions)
    return asked, drawn.questions


def template_of(asked: Asked, request_id: str = "") -> AnswerRequest:
    """The request of every question, but for the question and the policy.

    All have the request id of their evaluation, by which every service logs them.
    """
    return AnswerRequest(
        "",
        asked.settings[0].policy,
        index=asked.index or "none",
        budget=BudgetLimits(timeout_s=asked.timeout_s),
        request_id=request_id,
    )


def _wrong(request: EvaluationRequest, sources: Sources) -> Iterator[Violation]:
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
    combinations = math.prod(max(1, len(values)) for values in _grid(request).values())
    if len(request.policies) > MAX_SETTINGS or combinations > MAX_SETTINGS:
        yield _too_many(max(len(request.policies), combinations))
    if request.limit is not None and not 1 <= request.limit <= sources.max_questions:
        text = f"must be 1 to {sources.max_questions:,}, not {request.limit:,}"
        yield Violation("limit", text)
    if request.seed is not None and not 0 <= request.seed <= MAX_SEED:
        yield Violation("seed", f"must be 0 to {MAX_SEED:,}, not {request.seed:,}")
    if request.index == "":
        yield Violation("index", "must name an index where it is given")
    if not 0 < request.timeout_s <= MAX_TIMEOUT_S:
        text = f"must be in (0, {MAX_TIMEOUT_S:g}], not {request.timeout_s:g}"
        yield Violation("timeout_s", text)


def _wrong_name(field: str, text: str, most: int) -> Iterator[Violation]:
    if len(text) > most:
        yield Violation(field, f"must have at most {most} characters, not {len(text)}")
    elif text and not (text.isascii() and text.isprintable() and text.strip() == text):
        limit = "must be printable ASCII, without white space at its ends"
        yield Violation(field, limit)


def _settings(request: EvaluationRequest) -> tuple[Setting, ...]:
    settings = plan_policies(request.policies, _grid(request))
    if len(settings) > MAX_SETTINGS:
        raise InvalidRequest((_too_many(len(settings)),))
    return settings


def _grid(request: EvaluationRequest) -> Values:
    grid = request.grid
    values: Values = {"theta": grid.theta, "alpha": grid.alpha, "top_k": grid.top_k}
    return {name: given for name, given in values.items() if given}


def _too_many(settings: int) -> Violation:
    return Violation("policies", f"must come to at most {MAX_SETTINGS} settings, not {settings:,}")


async def _drawn(
    request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion], sources: Sources
) -> DrawnQuestions:
    async for _ in questions:
        raise InvalidRequest.of("questions", f"go without the data set {request.dataset}")
    path = sources.datasets.get(request.dataset)
    try:
        drawn = await asyncio.to_thread(
            draw_questions,
            request.dataset,
            "" if path is None else str(path),
            limit=request.limit,
            seed=request.seed,
        )
    except InvalidRequest as error:
        if path is None or str(path) not in error.message:
            raise
        # The file is the service's own, and so is what is wrong with it.
        text = f"the file of the data set {request.dataset} cannot be used"
        raise DataCorrupt(text, detail=error.message) from error
    if len(drawn.questions) > sources.max_questions:
        held = f"{request.dataset} has {len(drawn.questions):,} questions"
        text = f"must be given, at most {sources.max_questions:,}: {held}"
        raise InvalidRequest.of("limit", text)
    return drawn


async def _sent(
    request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion], sources: Sources
) -> DrawnQuestions:
    found = await collected(
        questions, most=sources.max_questions, most_bytes=sources.max_upload_bytes
    )
    if not found:
        raise InvalidRequest.of("questions", "must be at least one where no data set is named")
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
