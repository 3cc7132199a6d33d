"""The objectives of a tuning: a budget of searches, or a risk of accepting wrong drafts.

An objective places the threshold of every candidate, and prefers one of the candidates that are
about equally good.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from scaar.evaluator.studies.tuning.candidates import Candidate, Retrieving
from scaar.evaluator.studies.tuning.records import Trajectory
from scaar.evaluator.studies.tuning.trajectories import Fires

Losses = Callable[[Retrieving, Fires, Sequence[Trajectory]], Awaitable[Sequence[bool]]]
"""Whether each answer of a policy contains a wrong draft that was accepted unchecked."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The answers of a candidate at a threshold."""

    retrieving: Retrieving
    fires: Fires
    answers: Sequence[Trajectory]


Try = Callable[[float], Awaitable[Trial]]
"""Answers with a theta."""


class Objective(Protocol):
    """What thresholds are tuned for."""

    async def theta(self, thetas: Sequence[float], attempt: Try, *, rising: bool) -> float | None:
        """Return one of the thetas, in rising order; None if none suits.

        ``rising`` says whether a higher theta retrieves more.
        """
        ...

    def cost(self, candidate: Candidate, spent: float) -> float:
        """Return what is preferred if it is lower.

        ``spent`` are the searches per question, or with a latency weight the seconds.
        """
        ...


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """A mean number of searches per question; simpler candidates are preferred."""

    searches: float

    async def theta(self, thetas: Sequence[float], attempt: Try, *, rising: bool) -> float | None:
        """Return the theta that spends nearest to the budget."""

        async def spent(theta: float) -> float:
            answers = (await attempt(theta)).answers
            return sum(each.searches for each in answers) / len(answers)

        known = await bisected(thetas, spent, self.searches, rising=rising)
        return min(
            known, key=lambda each: (abs(known[each] - self.searches), known[each]), default=None
        )

    def cost(self, candidate: Candidate, spent: float) -> float:
        """Return the complexity of the candidate."""
        return candidate.complexity


@dataclass(frozen=True, slots=True)
class MaxRisk:
    """A share of answers with a wrong draft accepted unchecked; the least cost is preferred."""

    risk: float
    losses: Losses

    async def theta(self, thetas: Sequence[float], attempt: Try, *, rising: bool) -> float | None:
        """Return the theta with the largest share that is not above the risk."""

        async def share(theta: float) -> float:
            tried = await attempt(theta)
            lost = await self.losses(tried.retrieving, tried.fires, tried.answers)
            return sum(lost) / len(lost)

        known = await bisected(thetas, share, self.risk, rising=not rising)
        within = {theta: value for theta, value in known.items() if value <= self.risk}
        return max(within, key=lambda each: (within[each], -each if rising else each), default=None)

    def cost(self, candidate: Candidate, spent: float) -> float:
        """Return what is spent per question."""
        return spent


async def bisected(
    thetas: Sequence[float],
    value: Callable[[float], Awaitable[float]],
    target: float,
    *,
    rising: bool,
) -> dict[float, float]:
    """Return the values of the thetas that a bisection for a target tries.

    ``rising`` says whether a higher theta has a higher value.
    """
    known: dict[float, float] = {}
    low, high = -1, len(thetas)
    while high - low > 1:
        middle = (low + high) // 2
        known[thetas[middle]] = found = await value(thetas[middle])
        # Of equal values, a falling one is left towards lower values.
        if (found <= target) == rising:
            low = middle
        else:
            high = middle
    return known
