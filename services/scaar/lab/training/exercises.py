"""The exercises that the lab language model learns from: prompts with their answers.

Five kinds, drawn at random: questions about known films, mostly without passages; questions
about films never seen, with the right passages among others; with one of the two it needs; with
none; and dense recall, restating the facts of the passages in another order.
"""

import enum
from dataclasses import dataclass
from random import Random

from scaar.lab import layout, names
from scaar.lab.passages import passage_text
from scaar.lab.questions import RELATIONS, Asked, ask
from scaar.lab.statements import state
from scaar.lab.world import (
    Fact,
    Film,
    Person,
    World,
    draw_film,
    draw_person,
    popularity_weights,
)

RECALLED_FACTS = 8


class Kind(enum.Enum):
    """What an exercise asks for, and what it gives to answer with."""

    KNOWN = "known"
    READ = "read"
    PARTLY_READ = "partly_read"
    UNKNOWN = "unknown"
    RECALL = "recall"


_KNOWN_WITHOUT_PASSAGES = 0.7


@dataclass(frozen=True, slots=True)
class Mix:
    """The share of each kind of exercise, and what stands among the passages.

    ``near_names`` is the share of distracting passages whose subject's name differs from the
    right one's in one word: what a search by title finds; ``near_films`` of them are films.
    """

    known: float
    read: float
    partly_read: float
    unknown: float
    recall: float
    near_names: float
    near_films: float = 0.5
    fewest_passages: int = 1

    def draw(self, random: Random) -> Kind:
        """A kind of exercise."""
        shares = {kind: float(getattr(self, kind.value)) for kind in Kind}
        return random.choices(list(shares), list(shares.values()))[0]


FIRST_MIX = Mix(known=0.40, read=0.35, partly_read=0.08, unknown=0.07, recall=0.10, near_names=0.3)
FINDING_MIX = Mix(
    known=0.25,
    read=0.35,
    partly_read=0.30,
    unknown=0.05,
    recall=0.05,
    near_names=0.9,
    near_films=0.75,
    fewest_passages=3,
)


@dataclass(frozen=True, slots=True)
class Exercise:
    """A prompt and the text to be written after it."""

    kind: Kind
    prompt: str
    answer: str


class ExerciseBook:
    """Draws exercises; the known films of ``world`` are to be learned, the first ones best."""

    def __init__(self, world: World, random: Random, mix: Mix) -> None:
        self._known = world.known
        self._mix = mix
        self._weights = popularity_weights(len(self._known))
        self._random = random

    def draw(self, *, most_passages: int, whole_passages: bool = True) -> Exercise:
        """One exercise with up to ``most_passages`` passages, or shortened ones to begin with."""
        random = self._random
        kind = self._mix.draw(random)
        count = random.randint(min(self._mix.fewest_passages, most_passages), most_passages)
        length = 7 if whole_passages else 4
        if kind is Kind.RECALL:
            return self._recall(count, length)
        if kind is Kind.KNOWN:
            film = random.choices(self._known, self._weights)[0]
        else:
            film = draw_film(random)
        asked = ask(film, random.choice(RELATIONS))
        passages = self._passages(kind, asked, count, length)
        prompt = layout.prompt(asked.question, passages)
        return Exercise(kind, prompt, f" {asked.answer_text(random)}")

    def _passages(self, kind: Kind, asked: Asked, count: int, length: int) -> list[str]:
        random = self._random
        needed = list(asked.facts)
        if kind is Kind.UNKNOWN or (
            kind is Kind.KNOWN and random.random() < _KNOWN_WITHOUT_PASSAGES
        ):
            return []
        if kind is Kind.PARTLY_READ or (kind is Kind.KNOWN and count < len(needed)):
            needed = [random.choice(needed)]
        subjects = [(self._facts_of(asked.film, fact), fact) for fact in needed]
        passages = [self._passage(facts, length, fact) for facts, fact in subjects]
        while len(passages) < count:
            passages.append(self._passage(self._distractor(asked.film), length))
        random.shuffle(passages)
        return passages

    def _recall(self, count: int, length: int) -> Exercise:
        random = self._random
        subjects = [self._distractor(draw_film(random)) for _ in range(count)]
        passages = [self._passage(facts, length) for facts in subjects]
        recalled = [fact for facts in subjects for fact in facts]
        random.shuffle(recalled)
        statements = [state(fact, random).text for fact in recalled[:RECALLED_FACTS]]
        return Exercise(Kind.RECALL, layout.recall_prompt(passages), " " + " ".join(statements))

    def _passage(self, facts: tuple[Fact, ...], length: int, needed: Fact | None = None) -> str:
        kept = list(facts)
        self._random.shuffle(kept)
        if needed is not None:
            kept.remove(needed)
            kept.insert(0, needed)
        return passage_text(kept[:length], self._random)

    def _facts_of(self, film: Film, fact: Fact) -> tuple[Fact, ...]:
        return film.facts() if fact in film.facts() else film.director.facts()

    def _distractor(self, film: Film) -> tuple[Fact, ...]:
        """The facts of another film or person, sometimes of a name near to the right one's."""
        random = self._random
        near = random.random() < self._mix.near_names
        if random.random() < (self._mix.near_films if near else 0.5):
            other = draw_film(random)
            if near:
                other = Film(
                    _near_title(film.title, random), other.director, other.released, other.star
                )
            return other.facts()
        return draw_person(random, _near_name(film.director, random) if near else None).facts()


def _near_title(title: str, random: Random) -> str:
    words = title.split()
    place, choices = random.choice(
        [(1, names.TITLE_ADJECTIVES), (2, names.TITLE_NOUNS), (4, names.PLACES)]
    )
    words[place] = random.choice([word for word in choices if word != words[place]])
    return " ".join(words)


def _near_name(person: Person, random: Random) -> str:
    first, last = person.name.split()
    if random.random() < 0.5:
        return f"{random.choice([name for name in names.FIRST_NAMES if name != first])} {last}"
    return f"{first} {random.choice([name for name in names.LAST_NAMES if name != last])}"
