"""Layout of the lab's prompts: a minimal form of the papers' layout.

The ``lab`` prompt profile of :mod:`scaar.core.prompts` has the same layout; a test compares them.
"""

from collections.abc import Sequence


def prompt(question: str, passages: Sequence[str] = ()) -> str:
    """Return the prompt: numbered passages, if any, the question, and ``Answer:``."""
    return f"{_context(passages)}Question: {question}\nAnswer:"


def recall_prompt(passages: Sequence[str]) -> str:
    """Return the prompt of the training exercise that restates the facts of passages."""
    return f"{_context(passages)}Facts:"


def _context(passages: Sequence[str]) -> str:
    if not passages:
        return ""
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    return f"Context:\n{lines}"
