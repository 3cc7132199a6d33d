"""The standalone question of a conversation, written by the model before the answer."""

from scaar.core.loop.answer_state import AnswerState
from scaar.core.prompts.rewriting import STOP, recent_turns
from scaar.core.types import (
    AnswerRequest,
    MessageRole,
    QuestionRewritten,
    Rewrite,
    RewriteOutcome,
)
from scaar.core.validation import MAX_QUESTION_CHARACTERS

MAX_TOKENS = 64
"""Maximum number of tokens of a standalone question."""


def is_follow_up(request: AnswerRequest) -> bool:
    """Return whether the question is to be rewritten: a conversation precedes it."""
    said = any(each.role is not MessageRole.SYSTEM for each in request.messages[:-1])
    return said and request.rewrite is Rewrite.AUTO


async def rewrite_question(state: AnswerState) -> QuestionRewritten:
    """Return the event, and let the state answer the standalone question.

    The original question is answered if the model writes no other. The generation counts in the
    usage, and takes at most half of the tokens of the budget.
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
    if not (line_end or written.last) or len(question) > MAX_QUESTION_CHARACTERS:
        return QuestionRewritten(original, original, RewriteOutcome.TOO_LONG, dropped)
    state.answer_instead(question)
    return QuestionRewritten(original, question, RewriteOutcome.REWRITTEN, dropped)
