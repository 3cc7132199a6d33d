"""How much a plan asks, and about how long that takes."""

from collections.abc import Sequence

from record.step import Step


def told_cost(steps: Sequence[Step]) -> str:
    """A line a step and one for all of them, for people to read before it begins."""
    width = max(len(each.name) for each in steps)
    lines = [
        f"{each.name:<{width}}  {each.limit:>5} questions {each.answers:>7} answers  "
        f"about {each.seconds / 60:.1f} min"
        for each in steps
    ]
    answers, seconds = sum(x.answers for x in steps), sum(x.seconds for x in steps)
    lines.append(f"{answers} answers in all: about {seconds / 60:.1f} min")
    return "\n".join(lines)
