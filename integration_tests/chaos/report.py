"""Output of a run: a line per injection, and a table at the end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .invariants import Violation
from .records import Call


@dataclass(frozen=True, slots=True)
class Window:
    """An injection and the time until the next one, with the answers that ended in it."""

    name: str
    target: str
    text: str
    began: float
    """Start of the injection, on the clock of the calls."""
    disturbed_s: float
    """Duration of the disturbance, in seconds."""
    ended: float
    calls: Sequence[Call] = field(repr=False)
    violations: Sequence[Violation] = ()

    @property
    def failures(self) -> Counter[str]:
        return Counter(call.code for call in self.calls if not call.succeeded)

    @property
    def degraded(self) -> int:
        return sum(answer.degraded is not None for call in self.calls for answer in call.answers)

    @property
    def recovery_s(self) -> float:
        """Longest time without an answer, in seconds."""
        succeeded = sorted(call.ended for call in self.calls if call.succeeded)
        return max(
            after - before for before, after in pairwise((self.began, *succeeded, self.ended))
        )

    @property
    def last_failure_s(self) -> float | None:
        """Time of the last failed call, in seconds from the start of the injection."""
        failed = [call.ended for call in self.calls if not call.succeeded]
        return max(failed) - self.began if failed else None


def line(window: Window, at: float) -> str:
    """Return one line for a finished window; ``at`` is the start of the run."""
    counts = f"{len(window.calls)} answers, {_failed(window.failures)}"
    wrong = f"  {len(window.violations)} VIOLATIONS" if window.violations else ""
    return (
        f"{window.began - at:6.1f} s  {window.name:<11}{window.target:<17}{window.text:<40}"
        f"{counts}; longest gap {window.recovery_s:.1f} s{wrong}"
    )


def print_violations(violations: Sequence[Violation], at: float) -> None:
    """Print each violation, with the time since the start of the run."""
    for each in violations:
        print(f"{each.at - at:6.1f} s  VIOLATION  {each.rule}: {each.text}", flush=True)


_HEAD = (
    *("injection", "count", "answers", "failed", "degraded"),
    *("longest gap without an answer, s", "last failure after, s", "verdict"),
)


def table(windows: Sequence[Window]) -> str:
    """Return a Markdown table of the windows by injection."""
    rows = [_HEAD]
    for name in dict.fromkeys(window.name for window in windows):
        of_it = [window for window in windows if window.name == name]
        failures = sum((window.failures for window in of_it), Counter[str]())
        last = [each.last_failure_s for each in of_it if each.last_failure_s is not None]
        wrong = sum(len(window.violations) for window in of_it)
        rows.append(
            (
                name,
                str(len(of_it)),
                str(sum(len(window.calls) for window in of_it)),
                _failed(failures),
                str(sum(window.degraded for window in of_it)),
                f"{max(window.recovery_s for window in of_it):.1f}",
                f"{max(last):.1f}" if last else "",
                f"{wrong} violations" if wrong else "passed",
            )
        )
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    rule = "| " + " | ".join("-" * width for width in widths) + " |"
    return "\n".join([lines[0], rule, *lines[1:]])


def _failed(failures: Counter[str]) -> str:
    return ", ".join(f"{count} {code}" for code, count in sorted(failures.items())) or "none failed"
