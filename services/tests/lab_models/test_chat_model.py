"""``lab-lm-chat`` in conversations, over the lab's index."""

import pytest

from scaar.compose import open_answerer
from scaar.core.types import (
    AnswerRequest,
    Message,
    MessageRole,
    PolicyRequest,
    QuestionRewritten,
    RewriteOutcome,
)
from scaar.evaluator.studies.conversations import draw_later_questions
from scaar.lab.models import LAB_LM, LAB_LM_CHAT
from scaar.testing.commands import run_scaar

MODEL = "SCAAR_GENERATOR_MODEL"
PLAIN = PolicyRequest("no_retrieval")


async def rewritten(*messages: Message) -> QuestionRewritten:
    async with open_answerer() as answerer:
        stream = answerer.stream_answer(AnswerRequest(policy=PLAIN, messages=messages))
        (event,) = [each async for each in stream if isinstance(each, QuestionRewritten)]
    return event


async def test_the_chat_model_rewrites_follow_ups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODEL, LAB_LM_CHAT)
    questions = draw_later_questions(1041, conversations=10, turns=3)
    events = [await rewritten(*each.messages) for each in questions]
    assert all(each.outcome is RewriteOutcome.REWRITTEN for each in events)
    right = [a.question == b.standalone for a, b in zip(events, questions, strict=True)]
    assert sum(right) >= 0.8 * len(right)


async def test_the_default_model_answers_the_question_as_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MODEL, LAB_LM)
    said = Message(MessageRole.USER, "Who directed the film?"), Message(MessageRole.ASSISTANT, "A.")
    event = await rewritten(*said, Message(MessageRole.USER, "And when was she born?"))
    assert event.outcome is RewriteOutcome.UNSUPPORTED
    assert event.question == event.original == "And when was she born?"


def test_conversations_are_evaluated_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODEL, LAB_LM_CHAT)
    ran = run_scaar("eval", "conversations", "--seed", "1041", "--limit", "3", "--format", "json")
    rows = ran.records
    assert [each["question"] for each in rows] == ["rewritten", "as_asked", "standalone"]
    assert [each["questions"] for each in rows] == [6, 6, 6]
    assert rows[2]["exact"] == 1
