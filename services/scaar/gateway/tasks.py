"""Tasks of chat pages: titles, tags, follow-ups and the like, which are no questions of a user."""

import re

TASK_HEADER = "x-scaar-task"
"""The header by which a chat page names its task; empty for a question."""
_TASK = re.compile(
    r"\s*### Task:\s+(?:generate|predict|suggest|analyze|your task is|you are an autocompletion)\b",
    re.IGNORECASE,
)
_PASSAGES = "<context>"
"""The tag of texts that a chat page found for a question, whose prompt begins like a task."""


def is_task(text: str, header: str) -> bool:
    """Return whether a message is a task: the header names one, or it begins as Open WebUI's do."""
    return bool(header.strip()) or (bool(_TASK.match(text)) and _PASSAGES not in text)
