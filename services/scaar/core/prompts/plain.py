"""The layout of a message as it is, after the passages if there are any."""

from collections.abc import Sequence

from scaar.core.prompts.profile import PromptProfile


def _layout(question: str, passages: Sequence[str], examples: str) -> str:
    lines = "".join(f"[{number}] {text}\n" for number, text in enumerate(passages, 1))
    return f"{lines}\n{question}" if lines else question


PLAIN = PromptProfile("plain", 1, _layout, with_titles=True, stop=(), keeps_lines=True)
