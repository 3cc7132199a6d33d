"""The standalone question of a conversation, written by the model before the answer."""

import re
from collections.abc import Sequence

from scaar.core.loop.answer_state import AnswerState
from scaar.core.prompts.rewriting import STOP, recent_turns
from scaar.core.text.questions import is_long, is_question
from scaar.core.types import (
    AnswerRequest,
    Message,
    MessageRole,
    QuestionRewritten,
    Rewrite,
    RewriteOutcome,
)

MAX_TOKENS = 64
"""Maximum number of tokens of a standalone question."""


def is_follow_up(request: AnswerRequest) -> bool:
    """Return whether the question is to be rewritten: a conversation precedes it.

    A long one is not: what it brings with it would be lost.
    """
    said = any(each.role is not MessageRole.SYSTEM for each in request.messages[:-1])
    return said and request.rewrite is Rewrite.AUTO and not is_long(request.last_question)


async def rewrite_question(state: AnswerState) -> QuestionRewritten:
    """Return the event, and let the state answer the standalone question.

    The original question is answered if the model writes no other, something that is no question,
    or an earlier message. The generation counts in the usage, and takes at most half of the tokens
    of the budget.
    """
    original = state.request.question
    turns = [each for each in state.request.messages[:-1] if each.role is not MessageRole.SYSTEM]
    shown = recent_turns(turns)
    dropped = len(turns) - len(shown)
    layout = state.profile.rewriting
    if layout is None:
        return QuestionRewritten(original, original, RewriteOutcome.UNSUPPORTED, dropped)
    written = await state.writer.passage(
        layout(shown, original),
        stage="rewriting the question",
        max_tokens=max(1, min(MAX_TOKENS, state.budget.remaining_tokens // 2)),
        stop=(STOP,),
    )
    question, line_end, _ = written.text.strip(" ").partition(STOP)
    question = question.strip()
    if not question:
        return QuestionRewritten(original, original, RewriteOutcome.EMPTY, dropped)
    if not (line_end or written.last) or is_long(question):
        return QuestionRewritten(original, original, RewriteOutcome.TOO_LONG, dropped)
    if question != original and (outcome := _unusable(question, turns)):
        return QuestionRewritten(original, original, outcome, dropped)
    state.answer_instead(question)
    return QuestionRewritten(original, question, RewriteOutcome.REWRITTEN, dropped)


def _unusable(question: str, turns: Sequence[Message]) -> RewriteOutcome | None:
    """Return why a text of the model is not answered; None for a question of its own."""
    if any(_words(question) == _words(turn.content) for turn in turns):
        return RewriteOutcome.REPEATED
    return None if is_question(question) else RewriteOutcome.NOT_A_QUESTION


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
