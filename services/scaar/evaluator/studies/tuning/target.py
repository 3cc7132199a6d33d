"""What a policy is tuned for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A budget of searches per question, or the maximum risk of an answer; one of them is set."""

    budget: float | None = None
    max_risk: float | None = None
