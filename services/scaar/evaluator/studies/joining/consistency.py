"""Checks that joined evaluations agree in a fact, and their error."""

from collections.abc import Callable, Mapping

from scaar.core.errors import InvalidRequest
from scaar.evaluator.results import Evaluation

Named = Mapping[str, Evaluation]
"""Evaluations by the names of their folders."""


def require_alike(evaluations: Named, subject: str, fact: Callable[[Evaluation], str]) -> None:
    """Check that a fact is the same in all evaluations.

    Raises:
        InvalidRequest: naming the first two that differ, and their values.
    """
    names = tuple(evaluations)
    values = {name: fact(one) for name, one in evaluations.items()}
    for name in names:
        if values[name] != values[names[0]]:
            raise apart((names[0], name), subject, (values[names[0]], values[name]))


def apart(names: tuple[str, str], subject: str, values: tuple[str, str]) -> InvalidRequest:
    """Return the error that two evaluations cannot be joined because a fact differs."""
    first, other = names
    text = f"{other} cannot be joined to {first}: {subject} {values[1]} there and {values[0]} here"
    return InvalidRequest.of("DIR", text)
