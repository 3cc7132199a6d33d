"""Recipes of the trainings of the lab's language models: hyperparameters, phases and exercises."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from scaar.core.prompts.reflection import REFLECTION_TOKENS
from scaar.lab.models import (
    LAB_LM,
    LAB_LM_B,
    LAB_LM_CONFIDENT,
    LAB_LM_FORMS,
    LAB_LM_FORMS_B,
)
from scaar.lab.questions.conversations import WORDS
from scaar.lab.tags import SEARCH_TAGS, TURN_TAGS
from scaar.lab.training.conversation_exercises import ConversationBook
from scaar.lab.training.exercises import Exercise, ExerciseBook, Mix
from scaar.lab.training.free_exercises import FreeBook
from scaar.lab.training.reflection_exercises import ReflectionBook
from scaar.lab.training.search_exercises import SearchBook
from scaar.lab.training.sentence_exercises import SentenceBook
from scaar.lab.training.tagged_exercises import TaggedExercise
from scaar.lab.vocabulary import form_words
from scaar.lab.world import build_world


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of a training, up to a share of its steps, with its mix of exercises."""

    until: float
    mix: Mix


PHASES = (
    # Learn to read, from one or two short passages.
    Phase(
        0.08,
        Mix(
            known=0.40,
            read=0.35,
            partly_read=0.05,
            unknown=0.03,
            recall=0.09,
            drill=0.08,
            near_names=0.3,
            most_passages=2,
            passage_facts=4,
        ),
    ),
    # Learn the known films.
    Phase(
        0.4,
        Mix(
            known=0.60,
            read=0.22,
            partly_read=0.06,
            unknown=0.02,
            recall=0.04,
            drill=0.06,
            near_names=0.4,
            known_bare=0.85,
        ),
    ),
    # Learn to distinguish similar search results.
    Phase(
        1.0,
        Mix(
            known=0.42,
            read=0.26,
            partly_read=0.22,
            unknown=0.04,
            recall=0.02,
            drill=0.04,
            near_names=0.95,
            known_bare=0.80,
            fewest_passages=2,
            most_passages=4,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class DecoderTraining:
    """Hyperparameters of a decoder's training.

    ``sharpness`` multiplies the logits of the trained model. Above 1, the model writes the same
    text, but is overconfident.
    """

    seed: int
    sharpness: float = 1.0
    steps: int = 7_000
    peak_rate: float = 2e-3
    phases: tuple[Phase, ...] = PHASES
    rows: int = 10
    row_tokens: int = 336
    warm_up_steps: int = 200
    prompt_weight: float = 0.1

    def mix(self, step: int) -> Mix:
        """Return the mix of exercises at a step, counted from 0."""
        return next(phase.mix for phase in self.phases if step < phase.until * self.steps)

    def source(self, first: int = 0) -> "ExerciseSource":
        """Return the source of the exercises, by their step; others after a resumption."""
        book = ExerciseBook(build_world(self.seed), _exercise_random(self.seed, first))
        return lambda step: book.draw(self.mix(step))


@dataclass(frozen=True, slots=True)
class SentenceTraining(DecoderTraining):
    """Hyperparameters of a training on sentence forms, which has no phases.

    ``unknown`` is the share of exercises about new films.
    """

    steps: int = 2_500
    phases: tuple[Phase, ...] = ()
    rows: int = 16
    row_tokens: int = 112
    unknown: float = 0.15

    def source(self, first: int = 0) -> "ExerciseSource":
        """Return the source of the exercises, the same at every step."""
        random = _exercise_random(self.seed, first)
        book = SentenceBook(build_world(self.seed), random, unknown=self.unknown)
        return lambda _: book.draw()


@dataclass(frozen=True, slots=True)
class ContinuedTraining(DecoderTraining):
    """Hyperparameters of a training that continues from the weights of a trained model.

    ``exercises`` is a name in :data:`TAGGED_BOOKS`; its tags are new tokens.
    """

    base: str = LAB_LM
    exercises: str = "reflection"
    steps: int = 3_000
    peak_rate: float = 1e-3
    phases: tuple[Phase, ...] = ()
    warm_up_steps: int = 100
    prompt_weight: float = 0.02

    @property
    def tags(self) -> tuple[str, ...]:
        return TAGGED_BOOKS[self.exercises].tags

    @property
    def words(self) -> tuple[str, ...]:
        return TAGGED_BOOKS[self.exercises].words

    @property
    def prompt_profile(self) -> str:
        return TAGGED_BOOKS[self.exercises].prompt_profile

    def source(self, first: int = 0) -> "ExerciseSource":
        """Return the source of the exercises, the same at every step."""
        drawn = TAGGED_BOOKS[self.exercises].book(
            build_world(self.seed), _exercise_random(self.seed, first)
        )
        return lambda _: drawn.draw()


@dataclass(frozen=True, slots=True)
class TaggedBook:
    """Exercises with their tags, and the prompt profile of a model that is trained on them.

    ``words`` are tokens that the base does not have.
    """

    book: type[ReflectionBook | SearchBook | ConversationBook | FreeBook]
    tags: tuple[str, ...]
    prompt_profile: str
    words: tuple[str, ...] = ()


TAGGED_BOOKS = {
    "reflection": TaggedBook(ReflectionBook, REFLECTION_TOKENS, "lab"),
    "search": TaggedBook(SearchBook, SEARCH_TAGS, "lab_search"),
    "conversation": TaggedBook(ConversationBook, TURN_TAGS, "lab_chat", WORDS),
    "free": TaggedBook(FreeBook, (), "lab", tuple(form_words())),
}
"""The exercises of continued trainings by name."""


def _exercise_random(seed: int, first: int) -> Random:
    return Random(f"exercises {seed} from {first}" if first else f"exercises {seed}")


ExerciseSource = Callable[[int], Exercise | TaggedExercise]
"""Draws the next exercise, given the step, counted from 0."""


LANGUAGE_MODEL_TRAININGS: Mapping[str, DecoderTraining] = MappingProxyType(
    {
        LAB_LM: DecoderTraining(seed=2),
        LAB_LM_B: DecoderTraining(seed=1),
        LAB_LM_CONFIDENT: DecoderTraining(seed=3, steps=5_000, sharpness=2.0),
        LAB_LM_FORMS: SentenceTraining(seed=4),
        LAB_LM_FORMS_B: SentenceTraining(seed=5, steps=3_500),
    }
)
"""The trainings by the name of the model."""
