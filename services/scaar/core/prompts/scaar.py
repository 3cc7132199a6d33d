"""The layouts of SCAAR's prompts, in the project's own words.

Version 2 has the order of the paper's Appendix A: the numbered passages, the instruction, the
examples, the question. Version 1 has the instruction before the passages.
"""

from collections.abc import Sequence

from scaar.core.prompts.exemplars.general import GENERAL
from scaar.core.prompts.lab import numbered
from scaar.core.prompts.profile import PromptProfile

_INSTRUCTION = (
    "Answer the last question in steps, one fact a sentence{source}, and end with the answer as "
    "the examples do.\n"
)


def _instruction(passages: Sequence[str], where: str) -> str:
    source = f", from what the passages {where} say where they help" if passages else ""
    return _INSTRUCTION.format(source=source)


def _passages_first(question: str, passages: Sequence[str], examples: str) -> str:
    instruction = _instruction(passages, "above")
    context = f"{numbered(passages)}\n" if passages else ""
    return f"{context}{instruction}\n{examples}Question: {question}\nAnswer:"


def _instruction_first(question: str, passages: Sequence[str], examples: str) -> str:
    instruction = _instruction(passages, "below")
    return f"{instruction}{numbered(passages)}\n{examples}Question: {question}\nAnswer:"


SCAAR = PromptProfile("scaar", 2, _passages_first, exemplars=GENERAL, with_titles=True)
SCAAR_1 = PromptProfile("scaar", 1, _instruction_first, exemplars=GENERAL, with_titles=True)
