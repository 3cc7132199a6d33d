"""Exercises of a training, encoded and packed into rows."""

from collections.abc import Iterator
from dataclasses import dataclass

from tokenizers import Tokenizer

from scaar.lab.training.exercises import Exercise
from scaar.lab.training.recipes import DecoderTraining
from scaar.lab.training.tagged_exercises import TaggedExercise
from scaar.lab.vocabulary import EOS_ID


@dataclass(frozen=True, slots=True)
class EncodedExercise:
    """An exercise, its token ids, and the weight of each token as a target."""

    exercise: Exercise | TaggedExercise
    ids: list[int]
    weights: list[float]


def packed_rows(
    tokenizer: Tokenizer, training: DecoderTraining, first: int = 0
) -> Iterator[list[list[EncodedExercise]]]:
    """Yield the rows of exercises of every step from ``first`` on."""
    waiting: list[EncodedExercise] = []
    draw = training.source(first)
    for step in range(first, training.steps):
        while len(waiting) < 8 * training.rows:
            encoded = _encode(draw(step), tokenizer, training.prompt_weight)
            if len(encoded.ids) <= training.row_tokens:
                waiting.append(encoded)
        yield [_row(waiting, training.row_tokens) for _ in range(training.rows)]


def _encode(
    exercise: Exercise | TaggedExercise, tokenizer: Tokenizer, prompt_weight: float
) -> EncodedExercise:
    ids = tokenizer.encode(exercise.prompt).ids
    weights = [0.0] + [prompt_weight] * (len(ids) - 1)
    for part in exercise.parts:
        added = tokenizer.encode(part.text, add_special_tokens=False).ids
        ids += added
        weights += [part.weight] * len(added)
    if exercise.ends:
        ids, weights = [*ids, EOS_ID], [*weights, 1.0]
    return EncodedExercise(exercise, ids, weights)


def _row(waiting: list[EncodedExercise], room: int) -> list[EncodedExercise]:
    """Take exercises for one row, the first ones that fit."""
    row = list[EncodedExercise]()
    while True:
        fitting = next((at for at, each in enumerate(waiting) if len(each.ids) <= room), None)
        if fitting is None:
            return row
        row.append(waiting.pop(fitting))
        room -= len(row[-1].ids)
