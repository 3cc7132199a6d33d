"""Exercises of the lab's tagged models: continuations in parts, whose decisions weigh more.

A model that decides whether to retrieve must distinguish the films that it knows by heart from
films with similar names. Therefore most new films have a name similar to a known film's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from scaar.lab.passages import passage_text
from scaar.lab.questions import DrawnQuestion, ListedFilms, NewFilms, draw_question
from scaar.lab.questions import Kind as QuestionKind
from scaar.lab.training.exercises import PLAIN_ANSWERS, Part, distractor
from scaar.lab.world import Fact, Film, World, draw_film, popularity_weights

BY_HEART = 80
"""Number of most popular films that count as known."""
HARDLY_KNOWN = 160
"""Known films from this rank on count as unknown. The films between are left out."""
NEAR_FILMS = 0.6
"""Share of new films with a name similar to a known film's."""
_LISTED = 0.08
"""Share of unknown films that are hardly known ones."""
_KINDS = (
    (
        QuestionKind.ONE_HOP,
        QuestionKind.COMPOSITIONAL,
        QuestionKind.INFERENCE,
        QuestionKind.COMPARISON,
        QuestionKind.BRIDGE_COMPARISON,
        QuestionKind.YES_NO,
    ),
    (0.38, 0.24, 0.14, 0.08, 0.08, 0.08),
)

DECISION = 3.0
"""Weight of a token that decides, relative to the tokens of sentences."""
READ = 0.02
"""Weight of the tokens of passages."""


@dataclass(frozen=True, slots=True)
class TaggedExercise:
    """A prompt and its continuation in parts. Without ``ends``, the end token does not follow."""

    prompt: str
    parts: tuple[Part, ...]
    ends: bool = True


class TaggedQuestions:
    """Draws questions about films that count as known, or as unknown, and passages for them."""

    def __init__(self, world: World, random: Random) -> None:
        self._random = random
        self._popular = world.known[:BY_HEART]
        weights = popularity_weights(len(world.known))[:BY_HEART]
        self._weights = weights
        self._taken = {subject.name for film in world.known for subject in film.subjects()}
        self._known = ListedFilms(self._popular, weights)
        self._hardly_known = ListedFilms(world.known[HARDLY_KNOWN:])
        self._new = NewFilms(self._draw_new)

    def known(self) -> DrawnQuestion:
        """Draw a question about films that the model knows by heart."""
        return self._draw(self._known)

    def unknown(self) -> DrawnQuestion:
        """Draw a question about films that the model does not know, or hardly."""
        return self._draw(self._hardly_known if self._random.random() < _LISTED else self._new)

    def passage(self, drawn: DrawnQuestion, fact: Fact) -> str:
        """Return a passage about the subject of a fact, with the fact among others."""
        facts = [each for each in facts_of(drawn, fact.subject) if each != fact]
        self._random.shuffle(facts)
        count = len(facts) if self._random.random() < 0.7 else self._random.randint(0, 3)
        return passage_text([fact, *facts[:count]], self._random)

    def wrong(self, drawn: DrawnQuestion, fact: Fact) -> tuple[str, str]:
        """Return title and text of a passage that a search for the subject may find wrongly."""
        facts = self._wrong_facts(drawn, fact)
        return facts[0].subject, passage_text(facts, self._random)

    def _wrong_facts(self, drawn: DrawnQuestion, fact: Fact) -> Sequence[Fact]:
        choice = self._random.random()
        if choice < 0.15:
            needed = {each.subject for each in drawn.facts}
            others = [
                subject
                for film in drawn.films
                for subject in film.subjects()
                if subject.name not in needed
            ]
            return self._random.choice(others).facts
        if choice < 0.3:
            film = self._random.choices(self._popular, self._weights)[0]
            subject = film.subjects()[0 if fact.subject.startswith("The ") else 1]
            if subject.name != fact.subject:
                return subject.facts
        return distractor(self._random, fact.subject, 0.85)

    def _draw(self, films: ListedFilms | NewFilms) -> DrawnQuestion:
        drawn = draw_question(self._random, films, self._random.choices(*_KINDS)[0])
        return drawn.plainly() if self._random.random() < PLAIN_ANSWERS else drawn

    def _draw_new(self) -> Film:
        """Draw a film none of whose subjects has the name of a known one."""
        near = self._random.random() < NEAR_FILMS
        while True:
            like = self._random.choices(self._popular, self._weights)[0] if near else None
            film = draw_film(self._random, like=like)
            if self._taken.isdisjoint(subject.name for subject in film.subjects()):
                return film


def facts_of(drawn: DrawnQuestion, subject: str) -> tuple[Fact, ...]:
    """Return the facts of one of the subjects of a question's films."""
    return next(
        each.facts for film in drawn.films for each in film.subjects() if each.name == subject
    )
