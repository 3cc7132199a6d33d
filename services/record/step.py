"""A step of a record: one command of ``scaar``, its output, and what steps cost."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Step(Protocol):
    """A command that writes a folder or a file of its name, and resumes from what is there."""

    @property
    def name(self) -> str:
        """The name of its output among the results."""
        ...

    @property
    def limit(self) -> int:
        """The number of questions."""
        ...

    @property
    def answers(self) -> int:
        """The number of answers."""
        ...

    @property
    def seconds(self) -> float:
        """The estimated time on two cores with everything embedded."""
        ...

    def arguments(self, results: str) -> tuple[str, ...]:
        """Return the arguments of ``scaar``; ``results`` is the folder of all results."""
        ...

    def environment(self, results: str) -> Mapping[str, str]:
        """Return the settings that the command reads from the environment."""
        ...

    def limited(self, maximum: int) -> "Step":
        """Return the same step with at most ``maximum`` questions."""
        ...


def describe_cost(steps: Sequence[Step]) -> str:
    """Return a line for each step and one for all, with questions, answers and minutes."""
    width = max(len(each.name) for each in steps)
    lines = [
        f"{each.name:<{width}}  {each.limit:>5} questions {each.answers:>7} answers  "
        f"about {each.seconds / 60:.1f} min"
        for each in steps
    ]
    answers, seconds = sum(x.answers for x in steps), sum(x.seconds for x in steps)
    lines.append(f"{answers} answers in all: about {seconds / 60:.1f} min")
    return "\n".join(lines)
