"""How much a plan asks, and about how long that takes."""

from collections.abc import Sequence

from record.plan import Entry
from scaar.evaluator.grid.candidates import first_pass_settings, with_candidates

ANSWERS_A_SECOND = 50
"""About what two cores answer with everything embedded, where settings share what they ask."""
TIMED_ANSWERS_A_SECOND = 12
"""The same one question at a time, and each setting asking anew."""


def answers_of(entry: Entry) -> int:
    """How many answers an evaluation asks for, the first pass of a grid among them."""
    settings = entry.settings()
    if entry.grid is None:
        return entry.limit * len(settings)
    judging = first_pass_settings(settings)
    thetas = tuple(float(place) for place in range(1, entry.grid + 1))
    laid = with_candidates(settings, {each.label: thetas for each in judging})
    return entry.limit * len(laid) + entry.limit * len(judging) // 2


def told_cost(entries: Sequence[Entry]) -> str:
    """A line an evaluation and one for all of them, for people to read before it begins."""
    asked = [answers_of(each) for each in entries]
    seconds = [
        answers / (TIMED_ANSWERS_A_SECOND if entry.timed else ANSWERS_A_SECOND)
        for entry, answers in zip(entries, asked, strict=True)
    ]
    width = max(len(each.name) for each in entries)
    lines = [
        f"{entry.name:<{width}}  {entry.limit:>5} questions {answers:>7} answers  "
        f"about {each / 60:.1f} min"
        for entry, answers, each in zip(entries, asked, seconds, strict=True)
    ]
    lines.append(f"{sum(asked)} answers in all: about {sum(seconds) / 60:.1f} min")
    return "\n".join(lines)
