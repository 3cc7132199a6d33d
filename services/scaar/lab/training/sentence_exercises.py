"""Training exercises of the language models of sentence forms: questions, each with its sentence.

Every exercise draws a form of the factorial, so that one model covers all of them. No exercise has
passages: these models answer from memory, and their purpose is the detection of wrong drafts.
"""

from random import Random

from scaar.lab import layout
from scaar.lab.questions import ListedFilms
from scaar.lab.sentences import FORMS, state_facts
from scaar.lab.sentences.questions import draw_facts, form_question
from scaar.lab.training.exercises import Exercise, Kind
from scaar.lab.world import World, popularity_weights, tail_drawer


class SentenceBook:
    """Draws exercises. The model learns the known films of ``world``, the first ones best.

    ``unknown`` is the share of new films, whose facts no model can know.
    """

    def __init__(self, world: World, random: Random, *, unknown: float) -> None:
        self._random = random
        self._known = ListedFilms(world.known, popularity_weights(len(world.known)))
        self._new = tail_drawer(world.known, random)
        self._unknown = unknown

    def draw(self) -> Exercise:
        """Draw an exercise in a random form."""
        random = self._random
        unknown = random.random() < self._unknown
        film = self._new() if unknown else self._known.draw(random)
        form = random.choice(FORMS)
        facts = draw_facts(film, form, random)
        prompt = layout.prompt(form_question(facts, form))
        answer = f" {state_facts(facts, form, random).text}"
        return Exercise(Kind.UNKNOWN if unknown else Kind.KNOWN, prompt, answer)
