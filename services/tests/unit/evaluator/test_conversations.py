"""The evaluation of conversations, on an answerer that knows every standalone question."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, InvalidRequest
from scaar.core.types import (
    Answer,
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    MessageRole,
    QuestionRewritten,
    Rewrite,
    RewriteOutcome,
)
from scaar.evaluator.studies.conversations import (
    ConversationRow,
    LaterQuestion,
    Variant,
    draw_later_questions,
    evaluate_conversations,
)

from .simulated import NOTHING_SPENT, SETTINGS, draw_questions, evaluation_of

PROVENANCE = evaluation_of(draw_questions(1), SETTINGS[:1]).provenance[SETTINGS[0].label]
QUESTIONS = draw_later_questions(1041, conversations=12, turns=3)


class Knowing:
    """Answers standalone questions correctly, others with nothing; rewrites every question."""

    def __init__(self, questions: Sequence[LaterQuestion]) -> None:
        self._answers = {each.standalone: each.answer for each in questions}
        self._standalone = {each.messages: each.standalone for each in questions}

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        asked = request.last_question
        if request.messages and request.rewrite is Rewrite.AUTO:
            question = self._standalone[request.messages]
            yield QuestionRewritten(asked, question, RewriteOutcome.REWRITTEN)
            asked = question
        usage = replace(NOTHING_SPENT, retrievals=1, generated_tokens=7)
        answer = self._answers.get(asked, "")
        yield AnswerFinished(Answer(answer, (), AnswerEnd.ANSWER_PHRASE, usage, PROVENANCE))


class Failing:
    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        raise BackendUnavailable("the generator is gone")
        yield


async def rows_of(
    answerer: "Knowing | Failing | Refusing",
) -> tuple[list[object], list[ConversationRow]]:
    made = list[object]()
    rows = await evaluate_conversations(
        answerer, AnswerRequest(), QUESTIONS, concurrency=3, on_answer=made.append
    )
    return made, list(rows)


def test_every_question_but_the_first_has_the_right_answers_before_it() -> None:
    assert len(QUESTIONS) == 2 * 12
    for each in QUESTIONS:
        *said, last = each.messages
        assert last.role is MessageRole.USER
        assert len(said) in (2, 4)
        assert all("So the answer is" in message.content for message in said[1::2])
        assert each.follows == (last.content != each.standalone)
    assert draw_later_questions(1041, conversations=12, turns=3) == QUESTIONS


async def test_rewritten_and_standalone_questions_are_answered_alike() -> None:
    made, rows = await rows_of(Knowing(QUESTIONS))
    assert len(made) == len(QUESTIONS) * len(Variant)
    rewritten, as_asked, standalone = rows
    assert [each.variant for each in rows] == list(Variant)
    assert rewritten.exact.value == rewritten.exact_follow_ups.value == rewritten.f1.value == 1
    assert standalone == replace(rewritten, variant=Variant.STANDALONE)
    assert as_asked.exact_follow_ups.value == 0
    kept = sum(not each.follows for each in QUESTIONS) / len(QUESTIONS)
    assert as_asked.f1.value == as_asked.exact.value == kept
    assert (rewritten.searches, rewritten.tokens) == (1, 7)
    assert rewritten.f1.low == rewritten.f1.high == 1


async def test_a_failed_answer_fails_the_evaluation_with_its_error() -> None:
    with pytest.raises(BackendUnavailable):
        await rows_of(Failing())


class Refusing:
    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        raise InvalidRequest.of("sentences", "must be shorter")
        yield


async def test_an_answer_at_a_limit_of_the_text_counts_as_wrong() -> None:
    made, rows = await rows_of(Refusing())
    assert len(made) == len(QUESTIONS) * len(Variant)
    assert [(each.f1.value, each.failed) for each in rows] == [(0, len(QUESTIONS))] * 3
