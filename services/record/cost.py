"""How much a plan asks, and about how long that takes."""

from collections.abc import Sequence

from record.plan import Entry
from scaar.evaluator.grid.candidates import first_pass_settings, with_candidates

ANSWERS_A_SECOND = 45
"""About what two cores answer with everything embedded."""


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
    width = max(len(each.name) for each in entries)
    lines = [
        f"{entry.name:<{width}}  {entry.limit:>5} questions {answers:>7} answers  "
        f"about {_minutes(answers)} min"
        for entry, answers in zip(entries, asked, strict=True)
    ]
    total = sum(asked)
    lines.append(
        f"{total} answers in all: about {_minutes(total)} min at {ANSWERS_A_SECOND} a second"
    )
    return "\n".join(lines)


def _minutes(answers: int) -> str:
    return f"{answers / ANSWERS_A_SECOND / 60:.1f}"
