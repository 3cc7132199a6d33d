"""Training exercises of the model that rewrites the last question of a conversation.

The prompts are those of the prompt profile ``lab_chat``. A quarter of the exercises are those of
the base, so that the model still answers questions.
"""

from collections.abc import Sequence
from random import Random

from scaar.core.prompts.rewriting import plain_rewriting
from scaar.core.types import Message, MessageRole
from scaar.lab.questions import ListedFilms, NewFilms
from scaar.lab.questions.conversations import TURNS, Turn, draw_conversation
from scaar.lab.training.exercises import ExerciseBook, Mix, Part
from scaar.lab.training.tagged_exercises import TaggedExercise
from scaar.lab.world import World, popularity_weights, tail_drawer

_REWRITING = 0.75
"""Share of exercises that rewrite a question."""
_KNOWN = 0.3
"""Share of conversations about known films."""
_ANSWERS = Mix(
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
)
"""The last mix of the base's training."""


class ConversationBook:
    """Draws exercises: the last question of a conversation to rewrite, or one to answer."""

    def __init__(self, world: World, random: Random) -> None:
        self._random = random
        self._answers = ExerciseBook(world, random)
        self._known = ListedFilms(world.known, popularity_weights(len(world.known)))
        self._new = NewFilms(tail_drawer(world.known, random))

    def draw(self) -> TaggedExercise:
        """Draw an exercise of a random kind."""
        random = self._random
        if random.random() >= _REWRITING:
            answered = self._answers.draw(_ANSWERS)
            return TaggedExercise(answered.prompt, answered.parts)
        films = self._known if random.random() < _KNOWN else self._new
        talk = draw_conversation(random, films, random.randint(2, TURNS))
        prompt = rewriting_prompt(talk, random)
        return TaggedExercise(prompt, (Part(f" {talk[-1].standalone}"),))


def rewriting_prompt(talk: Sequence[Turn], style: Random) -> str:
    """Return the prompt for the standalone form of the last question of a conversation."""
    messages = list[Message]()
    for turn in talk[:-1]:
        messages.append(Message(MessageRole.USER, turn.spoken))
        messages.append(Message(MessageRole.ASSISTANT, turn.drawn.answer_text(style)))
    return plain_rewriting(messages, talk[-1].spoken)
