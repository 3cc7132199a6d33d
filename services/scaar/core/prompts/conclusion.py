"""The conclusion of an answer: the answer phrase and the short answer after it."""

import re

_ANSWER_PHRASE = re.compile(r"\bthe\s+answer\s+is\b", re.IGNORECASE)
_DOTTED = re.compile(r"(?:^|\s)(?:[^\W\d_]\.){2,}$")
"""A last word of initials, such as U.S., which keeps its period."""


def concludes(sentence: str) -> bool:
    """Return whether a sentence of the model contains the answer phrase."""
    return _ANSWER_PHRASE.search(sentence) is not None


def extract_answer(text: str) -> str | None:
    """Return the text after the last answer phrase, up to the end of the line.

    A colon before it, the closing period and surrounding space are removed. None if the phrase is
    missing or nothing follows it.
    """
    found = list(_ANSWER_PHRASE.finditer(text))
    if not found:
        return None
    rest = text[found[-1].end() :].lstrip().removeprefix(":").strip()
    answer = rest.splitlines()[0].rstrip() if rest else ""
    if not _DOTTED.search(answer):
        answer = answer.removesuffix(".").rstrip()
    return answer or None
