"""The layout of instruct models: the question, then the passages.

No examples: small models copy them. What precedes the passages is the same in a draft from memory
and in a text from passages, so that a server reads it once. The text of the system tells the model
to use the passages, and which sentence to write if they do not contain the answer. After the
passages, small models copy that sentence whatever the passages say.
"""

from collections.abc import Sequence

from scaar.core.prompts.profile import PromptProfile

REFUSAL = "The documents do not contain the answer."
"""The answer of a model that finds no answer in the passages."""
_SYSTEM = (
    "You answer questions in one to three plain sentences. Documents may follow the question: then "
    f"answer from them, or, if none of them is about the question, write only: {REFUSAL}"
)
_SHORT = "Otherwise end with a sentence of this form: So the answer is ..."


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    given = f"\n\nDocuments:\n{lines}" if passages else ""
    return f"Question: {question}{given}"


INSTRUCT = PromptProfile(
    "instruct",
    1,
    _layout,
    with_titles=True,
    system=_SYSTEM,
    refusals=(REFUSAL, "The document does not contain the answer."),
    short=_SHORT,
)
