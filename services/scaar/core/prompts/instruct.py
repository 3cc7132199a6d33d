"""The layout of instruct models: the question, then the passages, then the question again.

No examples: small models copy them. What precedes the passages is the same in a draft from memory
and in a text from passages, so that a server reads it once. How to say that one does not know
follows a question without passages only: with it in every prompt, small models withhold answers
that the passages have, and answer from memory what they do not know. The instruction does not quote
a sentence about the documents: a model of 0.5 billion parameters writes that whatever it reads.
"""

from collections.abc import Sequence

from scaar.core.prompts.profile import PromptProfile

ABSTENTION = "I don't know."
"""The sentence of a model that does not know."""
_SYSTEM = (
    "You answer questions in one to three plain sentences. If documents follow the question, "
    "answer from them."
)
_FROM_MEMORY = f"If you do not know the answer, write: {ABSTENTION}"
_SHORT = "End with a sentence of this form: So the answer is ..."


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    asked = f"Question: {question}"
    if not passages:
        return f"{asked}\n{_FROM_MEMORY}"
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    return f"{asked}\n\nDocuments:\n{lines}"


INSTRUCT = PromptProfile(
    "instruct",
    1,
    _layout,
    with_titles=True,
    system=_SYSTEM,
    abstentions=(ABSTENTION, "I do not know."),
    short=_SHORT,
    asks_again="\nQuestion: {}",
    without_passages="plain",
)
