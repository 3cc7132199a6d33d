"""What must be the same in evaluations that are joined, and what is said where it is not."""

from collections.abc import Callable, Mapping

from scaar.core.errors import InvalidRequest
from scaar.evaluator.results import Evaluation

Named = Mapping[str, Evaluation]
"""Evaluations by the names of their folders."""


def require_alike(evaluations: Named, what: str, fact: Callable[[Evaluation], str]) -> None:
    """Passes evaluations of which a fact is the same.

    Raises:
        InvalidRequest: naming the first two that differ, and what they have.
    """
    names = tuple(evaluations)
    told = {name: fact(one) for name, one in evaluations.items()}
    for name in names:
        if told[name] != told[names[0]]:
            raise apart((names[0], name), what, (told[names[0]], told[name]))


def apart(names: tuple[str, str], what: str, told: tuple[str, str]) -> InvalidRequest:
    """The error that two evaluations cannot be joined because of what differs."""
    first, other = names
    text = f"{other} cannot be joined to {first}: {what} {told[1]} there and {told[0]} here"
    return InvalidRequest.of("DIR", text)
