"""A measure: 1 if the answer contains one of the accepted answers."""

from collections.abc import Sequence


def contains(answer: str, accepted: Sequence[str]) -> float:
    """Return 1 if the answer contains one of the accepted answers, and 0 otherwise."""
    return float(any(each.casefold() in answer.casefold() for each in accepted))
