"""The layout of the lab's prompts: that of the papers, in the fewest words.

The ``lab`` prompt profile of :mod:`scaar.core.prompts` writes the same layout; a test holds the
two to each other.
"""

from collections.abc import Sequence


def prompt(question: str, passages: Sequence[str] = ()) -> str:
    """Numbered passages, if any, then the question; the answer is written after ``Answer:``."""
    return f"{_context(passages)}Question: {question}\nAnswer:"


def recall_prompt(passages: Sequence[str]) -> str:
    """Passages whose facts are to be written down again; a training exercise only."""
    return f"{_context(passages)}Facts:"


def _context(passages: Sequence[str]) -> str:
    if not passages:
        return ""
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    return f"Context:\n{lines}"
