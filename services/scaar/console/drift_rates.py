"""The figures of the drift page: what they are, their units and their intervals."""

from collections.abc import Callable
from dataclasses import dataclass

from scaar.console.drift_intervals import (
    MIN_ANSWERS,
    Interval,
    degraded_interval,
    failed_interval,
    latency_interval,
    probability_interval,
    retrievals_interval,
    trigger_rate_interval,
)
from scaar.console.number_text import decimal_text, share_of
from scaar.core.records import RecordGroup
from scaar.core.types import ExpectedCost

_INTERVAL = f"Brackets and vertical lines are its 95% interval, from {MIN_ANSWERS} answers on."


@dataclass(frozen=True, slots=True)
class Rate:
    """A figure of the answers of a period, in its unit, with its 95% interval."""

    name: str
    title: str
    unit: str
    meaning: str
    value: Callable[[RecordGroup], float | None]
    decimals: int = 1
    expected: Callable[[ExpectedCost], float] | None = None
    interval: Callable[[RecordGroup], Interval | None] | None = None

    def text(self, value: float | None) -> str:
        """Return the text of a value."""
        return "–" if value is None else decimal_text(value, self.decimals)

    def interval_of(self, group: RecordGroup) -> Interval | None:
        """Return the interval of a group; None without one."""
        return None if self.interval is None else self.interval(group)

    def interval_text(self, group: RecordGroup) -> str:
        """Return the text of the interval of a group; empty without one."""
        interval = self.interval_of(group)
        if interval is None:
            return ""
        return f"[{self.text(interval.low)}, {self.text(interval.high)}]"

    @property
    def explained(self) -> str:
        """The meaning, with that of the interval."""
        return self.meaning if self.interval is None else f"{self.meaning} {_INTERVAL}"

    @property
    def label(self) -> str:
        """The title with the unit."""
        return f"{self.title} ({self.unit})"


def _in_percent(
    interval: Callable[[RecordGroup], Interval | None],
) -> Callable[[RecordGroup], Interval | None]:
    def of_group(group: RecordGroup) -> Interval | None:
        found = interval(group)
        return None if found is None else found.times(100)

    return of_group


def _percent(part: str, whole: str) -> Callable[[RecordGroup], float | None]:
    def value(group: RecordGroup) -> float | None:
        share = share_of(getattr(group, part), getattr(group, whole))
        return None if share is None else 100 * share

    return value


RATES = (
    Rate(
        "trigger_rate",
        "Trigger rate",
        "% of judged drafts",
        "Uncertain drafts, as a share of the drafts that the trigger judged.",
        _percent("uncertain_drafts", "judged_drafts"),
        expected=lambda cost: 100 * cost.trigger_rate,
        interval=_in_percent(trigger_rate_interval),
    ),
    Rate(
        "retrievals",
        "Retrievals per answer",
        "mean number",
        "Mean number of retrievals of an answer. The expectation counts searches, of which a "
        "retrieval with a fused query makes two.",
        lambda group: share_of(group.retrievals, group.answers),
        decimals=2,
        expected=lambda cost: cost.searches_per_answer,
        interval=retrievals_interval,
    ),
    Rate(
        "probability",
        "Mean P′",
        "0 to 1",
        "Mean over the answers of the mean probability of the words of their judged drafts. A "
        "model that is less sure of its words has a lower one.",
        lambda group: group.mean_probability,
        decimals=3,
        interval=probability_interval,
    ),
    Rate(
        "degraded",
        "Degraded sentences",
        "% of accepted sentences",
        "Sentences whose draft was accepted because a service failed.",
        _percent("degraded_sentences", "sentences"),
        interval=_in_percent(degraded_interval),
    ),
    Rate(
        "failed",
        "Failures",
        "% of answers",
        "Answers that failed or were cancelled.",
        _percent("failed", "answers"),
        interval=_in_percent(failed_interval),
    ),
    Rate(
        "latency",
        "Latency",
        "ms, mean",
        "Mean time from the request to the end of the answer.",
        lambda group: group.mean_latency_ms if group.answers else None,
        decimals=0,
        interval=latency_interval,
    ),
    Rate(
        "answers",
        "Answers",
        "number",
        "Number of answers, failed ones included. Rates of few answers vary by chance.",
        lambda group: float(group.answers),
        decimals=0,
    ),
)
