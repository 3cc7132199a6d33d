"""Layout of the lab's prompts: a minimal form of the papers' layout.

The ``lab`` prompt profile of :mod:`scaar.core.prompts` has the same layout; a test compares them.
"""

from collections.abc import Sequence

from scaar.lab.tags import INFORMATION, INFORMATION_END


def prompt(question: str, passages: Sequence[str] = ()) -> str:
    """Return the prompt: numbered passages, if any, the question, and ``Answer:``."""
    return f"{_context(passages)}Question: {question}\nAnswer:"


def recall_prompt(passages: Sequence[str]) -> str:
    """Return the prompt of the training exercise that restates the facts of passages."""
    return f"{_context(passages)}Facts:"


def search_results(passages: Sequence[tuple[str, str]]) -> str:
    """Return what follows a search request: titles and texts of passages, best first.

    The ``search_r1`` dialect of :mod:`scaar.core.prompts.dialects` has the same layout.
    """
    lines = [f"Doc {rank}(Title: {title}) {text}" for rank, (title, text) in enumerate(passages, 1)]
    text = "\n".join(lines)
    return f"\n\n{INFORMATION}{text}{INFORMATION_END}\n\n"


def _context(passages: Sequence[str]) -> str:
    if not passages:
        return ""
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    return f"Context:\n{lines}"
