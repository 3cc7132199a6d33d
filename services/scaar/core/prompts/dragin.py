"""The layout of DRAGIN: examples, then passages and a reminder, then the question."""

from collections.abc import Sequence

from scaar.core.prompts.exemplars.general import GENERAL
from scaar.core.prompts.lab import numbered
from scaar.core.prompts.profile import PromptProfile


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    reminder = "Answer in the same format as before.\n" if passages else ""
    return f"{examples}{numbered(passages)}{reminder}Question: {question}\nAnswer:"


DRAGIN = PromptProfile("dragin", 1, _layout, exemplars=GENERAL)
