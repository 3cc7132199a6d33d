"""Extraction of the short answer from a model's text, in the form that its data set uses.

Each function takes the answer of the loop or the whole text. If the text contains the answer
phrase, the text after its last occurrence counts. The extraction never depends on the accepted
answers of the question.
"""

import re

from scaar.core.prompts.conclusion import extract_answer
from scaar.evaluator.datasets.choices import letter_of
from scaar.evaluator.records import Question

_VERDICTS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_FIRST = re.compile(r"\W*(yes|no|true|false)\b(?=\W*$|\s*[^\w\s])", re.IGNORECASE)
_ANYWHERE = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)


def as_written(text: str, question: Question) -> str:
    """Return the short answer; for a multiple choice, its letter."""
    answer = extract_answer(text)
    short = text.strip() if answer is None else answer
    return letter_of(short, question.choices) if question.choices else short


def yes_or_no(text: str, question: Question) -> str:
    """Return ``yes`` or ``no`` if the answer starts with it or contains only one of them."""
    answer = as_written(text, question)
    if first := _FIRST.match(answer):
        return _VERDICTS[first[1].lower()]
    verdicts = {_VERDICTS[word.lower()] for word in _ANYWHERE.findall(answer)}
    return verdicts.pop() if len(verdicts) == 1 else answer


def yes_or_no_of_comparison(text: str, question: Question) -> str:
    """Return :func:`as_written`; for a comparison, ``yes`` or ``no`` if the answer starts with it.

    A word must end there: "No Country for Old Men" is a film, "No, they were not" is no.
    """
    answer = as_written(text, question)
    if "comparison" not in dict(question.labels).get("type", ""):
        return answer
    first = _FIRST.match(answer)
    return _VERDICTS[first[1].lower()] if first else answer
