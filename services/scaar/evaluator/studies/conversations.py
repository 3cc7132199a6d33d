"""Conversations of a lab world: later questions answered as rewritten, as asked, and standalone.

The earlier turns have the right answers, so that every variant answers the same questions.
"""

import asyncio
import enum
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scaar.core.distributions import lab_required
from scaar.core.errors import InvalidRequest
from scaar.core.measures.f1 import f1
from scaar.core.ports import Answerer
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    Message,
    MessageRole,
    QuestionRewritten,
    Rewrite,
)
from scaar.evaluator.statistics.estimate import Estimate, estimate
from scaar.evaluator.statistics.table import Floats

if TYPE_CHECKING:
    from scaar.lab.questions.conversations import Turn

_SAMPLES = 2_000


class Variant(enum.StrEnum):
    """How the last question of a conversation is answered."""

    REWRITTEN = "rewritten"
    """The model rewrites it."""
    AS_ASKED = "as_asked"
    """It stays as it is."""
    STANDALONE = "standalone"
    """The right standalone form is asked, without a conversation."""


@dataclass(frozen=True, slots=True)
class LaterQuestion:
    """A question with the earlier turns of its conversation, and its right forms."""

    conversation: int
    messages: tuple[Message, ...]
    standalone: str
    follows: bool
    """Whether it can only be understood in the conversation."""
    answer: str


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """The figures of a variant: means over the questions, with intervals.

    ``exact`` is the share of questions that are answered in their right standalone form,
    ``exact_follow_ups`` that of those that need the conversation.
    """

    variant: Variant
    questions: int
    exact: Estimate
    exact_follow_ups: Estimate
    f1: Estimate
    searches: float
    tokens: float
    failed: int = 0
    """Number of answers that failed at a limit of the scorer, which count as wrong."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    exact: float
    f1: float
    searches: int
    tokens: int
    failed: bool = False


_REFUSED = _Outcome(0.0, 0.0, 0, 0, failed=True)


def draw_later_questions(seed: int, *, conversations: int, turns: int) -> list[LaterQuestion]:
    """Return the questions after the first one of conversations about a world's films.

    Every other conversation is about known films, drawn by popularity; the others are about the
    world's own.
    """
    with lab_required("the evaluation of conversations"):
        from scaar.lab.questions import ListedFilms
        from scaar.lab.questions.conversations import draw_conversation
        from scaar.lab.world import build_world, popularity_weights
    world, random = build_world(seed), Random(f"conversations {seed}")
    head = ListedFilms(world.known, popularity_weights(len(world.known)))
    tail = ListedFilms(world.tail)
    found = list[LaterQuestion]()
    for number in range(conversations):
        talk = draw_conversation(random, head if number % 2 == 0 else tail, turns)
        found += _later(number, talk, random)
    return found


def _later(number: int, talk: Sequence["Turn"], style: Random) -> Iterator[LaterQuestion]:
    said = list[Message]()
    for turn in talk:
        asked = Message(MessageRole.USER, turn.spoken)
        if said:
            messages = (*said, asked)
            answer = turn.drawn.answer
            yield LaterQuestion(number, messages, turn.standalone, turn.follows, answer)
        said += asked, Message(MessageRole.ASSISTANT, turn.drawn.answer_text(style))


async def evaluate_conversations(
    answerer: Answerer,
    request: AnswerRequest,
    questions: Sequence[LaterQuestion],
    *,
    concurrency: int,
    on_answer: Callable[[object], None],
) -> tuple[ConversationRow, ...]:
    """Answer every question in every variant, with the policy and index of ``request``.

    Intervals are those of bootstrap samples of whole conversations.

    Raises:
        ScaarError: an answer failed, other than at a limit of the text.
    """
    places = asyncio.Semaphore(concurrency)

    async def outcome(variant: Variant, question: LaterQuestion) -> _Outcome:
        async with places:
            made = _request(request, variant, question)
            try:
                asked, answer = await _answered(answerer, made)
            except InvalidRequest as refused:
                # The model's own text exceeded a limit of the scorer.
                on_answer(refused)
                return _REFUSED
        on_answer(answer)
        return _Outcome(
            exact=float(asked == question.standalone),
            f1=f1(answer.answer, (question.answer,)),
            searches=answer.usage.retrievals,
            tokens=answer.usage.generated_tokens,
        )

    rows = list[ConversationRow]()
    for variant in Variant:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(outcome(variant, each)) for each in questions]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        rows.append(_row(variant, questions, [task.result() for task in tasks]))
    return tuple(rows)


def _request(request: AnswerRequest, variant: Variant, question: LaterQuestion) -> AnswerRequest:
    match variant:
        case Variant.REWRITTEN:
            return replace(request, messages=question.messages)
        case Variant.AS_ASKED:
            return replace(request, messages=question.messages, rewrite=Rewrite.NEVER)
        case Variant.STANDALONE:
            return replace(request, question=question.standalone)


async def _answered(answerer: Answerer, request: AnswerRequest) -> tuple[str, Answer]:
    """Return the question that is answered, and the answer."""
    asked = request.last_question
    async with aclosing(answerer.stream_answer(request)) as events:
        async for event in events:
            match event:
                case QuestionRewritten(question=question):
                    asked = question
                case AnswerFinished():
                    return asked, event.answer
    raise AssertionError("the stream ended without an answer")


def _row(
    variant: Variant, questions: Sequence[LaterQuestion], outcomes: Sequence[_Outcome]
) -> ConversationRow:
    of = np.array([each.conversation for each in questions])
    follows = np.array([each.follows for each in questions])
    exact = np.array([each.exact for each in outcomes])
    quality = np.array([each.f1 for each in outcomes])
    everything = np.ones(len(of), bool)
    return ConversationRow(
        variant,
        len(questions),
        _mean(exact, of, everything),
        _mean(exact, of, follows),
        _mean(quality, of, everything),
        float(np.mean([each.searches for each in outcomes])),
        float(np.mean([each.tokens for each in outcomes])),
        sum(each.failed for each in outcomes),
    )


def _mean(values: Floats, of: NDArray[np.intp], kept: NDArray[np.bool_]) -> Estimate:
    """Return the mean of the kept values, with the interval of samples of whole conversations."""
    count = int(of.max()) + 1
    sums = np.bincount(of[kept], weights=values[kept], minlength=count)
    sizes = np.bincount(of[kept], minlength=count)
    drawn = np.random.default_rng(0).integers(count, size=(_SAMPLES, count))
    whole = sizes[drawn].sum(1)
    with np.errstate(invalid="ignore"):
        samples = sums[drawn].sum(1) / whole
        value = sums.sum() / sizes.sum()
    return estimate(np.append(value, samples))
