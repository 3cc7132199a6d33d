"""Exact match: whether the normalised prediction is one of the answers.

Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text", EMNLP 2016. Unlike
in the official script, a prediction of white space is never right, even if the normalised answer is
empty because it is an article.
"""

from collections.abc import Sequence

from scaar.core.measures.normalisation import normalised


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalised prediction is one of the answers, else 0."""
    if not prediction.strip():
        return 0.0
    return float(any(normalised(prediction) == normalised(answer) for answer in answers))
