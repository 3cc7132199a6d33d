"""The layout of instruct models: the question, then the passages, then the question again.

No examples: small models copy them. What precedes the passages is the same in a draft from memory
and in a text from passages, so that a server reads it once. The text of the system lets the model
say that it does not know. It does not quote a sentence about the documents: a model of 0.5 billion
parameters then writes that sentence whatever the passages say.
"""

from collections.abc import Sequence

from scaar.core.prompts.profile import PromptProfile

ABSTENTION = "I don't know."
"""The sentence of a model that does not know, or that finds no answer in the passages."""
_SYSTEM = (
    "You answer questions in one to three plain sentences. If documents follow the question, "
    f"answer from them; if you cannot find the answer there, write: {ABSTENTION}"
)
_SHORT = "Otherwise end with a sentence of this form: So the answer is ..."


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    asked = f"Question: {question}"
    if not passages:
        return asked
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
