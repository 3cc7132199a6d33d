"""The lab's questions with a declared share of the long tail among them."""

import math

from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import World

_ROUNDING = 1e-9
"""What a product of a share and a count may be off by, so that no question is lost to rounding."""


def draw_mix(
    world: World, *, count: int, tail_share: float | None = None, style: float = 1.0
) -> list[Question]:
    """``count`` questions of which the share is of the tail, spread evenly; None is in turns.

    They are the questions that head and tail have at any share, in the same order; so a larger
    count keeps those of a smaller one.

    Raises:
        ValueError: more questions than head or tail offer.
    """
    if tail_share is None:
        return draw_questions(world, count=count, style=style)
    tail = [_tails(at + 1, tail_share) > _tails(at, tail_share) for at in range(count)]
    of_tail = iter(_of(world, "tail", sum(tail), style))
    of_head = iter(_of(world, "head", count - sum(tail), style))
    return [next(of_tail if each else of_head) for each in tail]


def _tails(count: int, share: float) -> int:
    return math.floor(count * share + _ROUNDING)


def _of(world: World, split: str, count: int, style: float) -> list[Question]:
    try:
        return draw_questions(world, count=count, split=split, style=style)
    except ValueError as error:
        told = str(error).removeprefix("count ")
        raise ValueError(f"count must be lower: its {split} questions {told}") from error
