"""Prompts that make a standalone question of the last question of a conversation."""

from collections.abc import Sequence

from scaar.core.prompts.untrusted import safe_question, safe_turn
from scaar.core.types import Message, MessageRole

STOP = "\n"
"""Ends the question."""
MAX_TURNS = 8
"""Maximum number of earlier messages in the prompt."""
MAX_WORDS = 400
"""Maximum number of words of the earlier messages in the prompt."""

_ROLES = {MessageRole.USER: "User", MessageRole.ASSISTANT: "Assistant"}
_GENERAL = """\
Rewrite the last question of each conversation so that it can be understood without the \
conversation. Keep a question that can be understood as it is.

User: Who wrote the novel Middlemarch?
Assistant: Middlemarch was written by George Eliot.
User: And when was she born?
Standalone question: When was George Eliot born?

User: What is the capital of Peru?
Assistant: The capital of Peru is Lima.
User: How many moons does Mars have?
Standalone question: How many moons does Mars have?

"""


def recent_turns(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the last messages that fit into the prompt, of those before the last question.

    At most ``MAX_TURNS`` messages, with at most ``MAX_WORDS`` words together; the last one always.
    """
    kept = list[Message]()
    words = 0
    for message in reversed(messages[-MAX_TURNS:]):
        words += len(safe_turn(message.content).split())
        if kept and words > MAX_WORDS:
            break
        kept.insert(0, message)
    return tuple(kept)


def general_rewriting(turns: Sequence[Message], question: str) -> str:
    """Return the prompt with two examples; the standalone question follows it."""
    return _GENERAL + plain_rewriting(turns, question)


def plain_rewriting(turns: Sequence[Message], question: str) -> str:
    """Return the prompt without examples, for a model that was trained on it."""
    lines = [f"{_ROLES[each.role]}: {safe_turn(each.content)}\n" for each in turns]
    return f"{''.join(lines)}User: {safe_question(question)}\nStandalone question:"
