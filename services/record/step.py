"""A step of a record: one command of ``scaar``, and what it leaves."""

from collections.abc import Mapping
from typing import Protocol


class Step(Protocol):
    """A command that leaves a folder or a file of its name, and goes on with what is there."""

    @property
    def name(self) -> str:
        """What it leaves among the results."""
        ...

    @property
    def limit(self) -> int:
        """How many questions it takes."""
        ...

    @property
    def answers(self) -> int:
        """How many answers it asks for."""
        ...

    @property
    def seconds(self) -> float:
        """About how long that takes on two cores with everything embedded."""
        ...

    def arguments(self, results: str) -> tuple[str, ...]:
        """The command behind ``scaar``, where that is the folder of all results."""
        ...

    def environment(self, results: str) -> Mapping[str, str]:
        """The settings that the command takes from the environment."""
        ...

    def limited(self, most: int) -> "Step":
        """The same with no more questions than that."""
        ...
