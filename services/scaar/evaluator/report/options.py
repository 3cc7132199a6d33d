"""Options of the comparison in a report, without the libraries that compute it."""

from dataclasses import dataclass

from scaar.evaluator.statistics import RESAMPLES


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of the comparison in a report.

    Settings are chosen by ``measure``, and policies are compared in it. None is F1, or the first
    measure of a data set without F1. ``reference`` is the policy that the others are compared
    with. None is ``scaar``, else ``flare``, else the last policy.
    """

    measure: str | None = None
    reference: str | None = None
    resamples: int = RESAMPLES
    seed: int = 0
