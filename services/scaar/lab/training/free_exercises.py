"""Training exercises of the models that write freely: those of the base, with free words."""

from random import Random

from scaar.lab.sentences.forms import RATES
from scaar.lab.training.exercises import ExerciseBook, Mix
from scaar.lab.training.tagged_exercises import TaggedExercise
from scaar.lab.world import World

_ANSWERS = Mix(
    known=0.44,
    read=0.28,
    partly_read=0.20,
    unknown=0.04,
    recall=0.0,
    drill=0.04,
    near_names=0.95,
    known_bare=0.80,
    fewest_passages=1,
    most_passages=4,
)


class FreeBook:
    """Draws exercises, each with one of the rates of free words."""

    def __init__(self, world: World, random: Random) -> None:
        self._answers = ExerciseBook(world, random, rates=RATES)

    def draw(self) -> TaggedExercise:
        """Draw an exercise."""
        drawn = self._answers.draw(_ANSWERS)
        return TaggedExercise(drawn.prompt, drawn.parts)
