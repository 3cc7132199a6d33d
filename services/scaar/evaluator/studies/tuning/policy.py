"""Tuned policies: a candidate with its threshold, and the parameters of a learned trigger."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from scaar.core.triggers import TRIGGERS, learned
from scaar.core.types import LearnedTrigger
from scaar.evaluator.studies.tuning.candidates import Candidate
from scaar.evaluator.studies.tuning.drafting import threshold_of
from scaar.evaluator.studies.tuning.records import ALWAYS, JudgedDraft
from scaar.evaluator.studies.tuning.trajectories import Fires

Value = Callable[[JudgedDraft], float]
"""The value of a trigger for a draft: it fires if the value is above its threshold."""


@dataclass(frozen=True, slots=True)
class TunedPolicy:
    """A candidate at a threshold; ``learned`` are the parameters of a learned trigger."""

    candidate: Candidate
    theta: float
    learned: LearnedTrigger | None = None

    @property
    def fires(self) -> Fires:
        """Whether the trigger fires for a draft."""
        value = value_by(self.candidate.trigger, self.learned)
        return fires_above(value, threshold_of(self.candidate.trigger, self.theta))


def fires_above(value: Value, threshold: float) -> Fires:
    """Return the trigger that fires above a threshold."""
    return lambda draft: value(draft) > threshold


def value_by(trigger: str, parameters: LearnedTrigger | None = None) -> Value:
    """Return the value of a trigger for drafts."""
    return partial(_learned, parameters) if parameters else lambda draft: draft.values[trigger]


def theta_of(trigger: str, value: float) -> float | None:
    """Return the theta at which a trigger fires above a value; None if it is out of range."""
    theta = threshold_of(trigger, value)
    return theta if TRIGGERS[trigger].theta.holds(theta) else None


def _learned(parameters: LearnedTrigger, draft: JudgedDraft) -> float:
    found = learned.learned_value(parameters, draft.signals)
    return ALWAYS if found is None else found
