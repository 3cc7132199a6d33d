"""The layout of instruct models: the question, then the passages and what to do with them.

No examples: small models copy them. What precedes the passages is the same in a draft from memory
and in a text from passages, so that a server reads it once. What follows the passages tells the
model to use them, and which sentence to write if they do not contain the answer.
"""

from collections.abc import Sequence

from scaar.core.prompts.lab import numbered
from scaar.core.prompts.profile import PromptProfile

REFUSAL = "The documents do not contain the answer."
"""The answer of a model that finds no answer in the passages."""
_SYSTEM = (
    "Answer the question in a few plain sentences. If documents follow the question, answer from "
    "them."
)
_TASK = (
    f"If these documents say nothing about the question, write only: {REFUSAL} Otherwise answer "
    "the question from them, in a few sentences."
)
_SHORT = "End with a sentence of this form: So the answer is ..."


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    given = f"\n\n{numbered(passages)}\n{_TASK}" if passages else ""
    return f"Question: {question}{given}"


INSTRUCT = PromptProfile(
    "instruct",
    1,
    _layout,
    with_titles=True,
    system=_SYSTEM,
    refusal=REFUSAL,
    short=_SHORT,
)
