"""Prompt for a passage that answers a question, written from the model's memory."""

from scaar.core.prompts.untrusted import safe_question


def passage_prompt(question: str) -> str:
    """Return the prompt; the passage follows it."""
    return (
        "Write a short passage that answers the question.\n\n"
        f"Question: {safe_question(question)}\nPassage:"
    )
