"""Accuracy: whether a choice among a few is right.

For yes and no (Geva et al., "Did Aristotle Use a Laptop?", TACL 2021) and for the letters of a
multiple choice (Hendrycks et al., "Measuring Massive Multitask Language Understanding", ICLR 2021).
Exact match does not fit: SQuAD's normalisation drops the letter A as an article.
"""

import string
from collections.abc import Sequence

_AROUND = string.punctuation + string.whitespace


def accuracy(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 if the prediction is an answer up to case and surrounding punctuation, else 0."""
    chosen = _bare(prediction)
    return float(bool(chosen) and any(chosen == _bare(answer) for answer in answers))


def _bare(answer: str) -> str:
    return answer.strip(_AROUND).casefold()
