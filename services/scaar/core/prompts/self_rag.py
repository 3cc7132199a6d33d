"""The layout of Self-RAG's models: an instruction, its input, and the response.

The headings and their order are those of the authors' code (AkariAsai/self-rag,
retrieval_lm/utils.py, ``PROMPT_DICT``); their input is here the numbered passages. The policy
``self_rag`` has no input: its passages stand between reflection tokens in the response.
"""

from collections.abc import Sequence

from scaar.core.prompts.lab import numbered
from scaar.core.prompts.profile import PromptProfile


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    given = f"### Input:\n{numbered(passages)}\n" if passages else ""
    return f"### Instruction:\n{question}\n\n{given}### Response:\n"


SELF_RAG = PromptProfile("self_rag", 1, _layout, with_titles=True, stop=("\n### ",), rewriting=None)
