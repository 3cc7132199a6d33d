"""The lab's questions with a given share of long-tail questions."""

import math

from scaar.lab.questions import Question, draw_questions
from scaar.lab.world import World

_ROUNDING = 1e-9
"""Tolerance of the product of a share and a count, so that rounding loses no question."""


def draw_mix(
    world: World,
    *,
    count: int,
    tail_share: float | None = None,
    style: float = 1.0,
    freedom: float | None = None,
) -> list[Question]:
    """Return ``count`` questions with a share of the tail, evenly spread; None alternates.

    Head and tail have the same questions in the same order at every share, so a larger count
    includes the questions of a smaller one.

    Raises:
        ValueError: head or tail have fewer questions.
    """
    if tail_share is None:
        return draw_questions(world, count=count, style=style, freedom=freedom)
    tail = [_tails(at + 1, tail_share) > _tails(at, tail_share) for at in range(count)]
    of_tail = iter(_of(world, "tail", sum(tail), style, freedom))
    of_head = iter(_of(world, "head", count - sum(tail), style, freedom))
    return [next(of_tail if each else of_head) for each in tail]


def _tails(count: int, share: float) -> int:
    return math.floor(count * share + _ROUNDING)


def _of(
    world: World, split: str, count: int, style: float, freedom: float | None
) -> list[Question]:
    try:
        return draw_questions(world, count=count, split=split, style=style, freedom=freedom)
    except ValueError as error:
        text = str(error).removeprefix("count ")
        raise ValueError(f"count must be lower: its {split} questions {text}") from error
