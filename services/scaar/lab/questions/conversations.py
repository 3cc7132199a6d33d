"""Conversations of questions about a film and its people, with follow-ups and standalone forms.

A follow-up names its subject by a pronoun: "it" is the film named last, "she" or "he" the person
named last. Who that is follows from the questions and answers alone.
"""

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from scaar.lab import names
from scaar.lab.questions import one_hop
from scaar.lab.questions.drawn_question import DrawnQuestion
from scaar.lab.questions.films import Films
from scaar.lab.world import Fact, Film, Relation, Subject

FOLLOW_UPS = {
    Relation.DIRECTOR: "And who directed it?",
    Relation.RELEASED: "And when was it released?",
    Relation.STAR: "And who stars in it?",
    Relation.BORN: "And when was {she} born?",
    Relation.BIRTHPLACE: "And where was {she} born?",
    Relation.DIED: "And when did {she} die?",
    Relation.COUNTRY: "And which country is {she} from?",
    Relation.FATHER: "And who is {her} father?",
    Relation.MOTHER: "And who is {her} mother?",
    Relation.SPOUSE: "And who is {her} spouse?",
}
"""The follow-up for a fact of the film or the person named last."""
WORDS = ("And", "when", "where", "it", "she", "he", "her", "his")
"""The words of follow-ups that no other question has."""
TURNS = 3
_CHANGED = 0.2
"""Share of later questions that begin another subject, and need no rewriting."""
_OF_PERSON = 0.75
"""Share of follow-ups about the person, if there is one."""
_NAMES = frozenset(
    {Relation.DIRECTOR, Relation.STAR, Relation.FATHER, Relation.MOTHER, Relation.SPOUSE}
)
"""Relations whose value is a person, who is then the one named last."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question as the user asks it, and in its standalone form."""

    spoken: str
    drawn: DrawnQuestion

    @property
    def standalone(self) -> str:
        return self.drawn.question

    @property
    def follows(self) -> bool:
        """Whether the question can only be understood in the conversation."""
        return self.spoken != self.standalone


def draw_conversation(random: Random, films: Films, turns: int = TURNS) -> tuple[Turn, ...]:
    """Draw a conversation; its first question is a standalone one, about a film."""
    film = films.draw(random)
    drawn = one_hop.fact_question(film, random.choice((film.facts()[0], *film.facts())))
    talk = [Turn(drawn.question, drawn)]
    person = _named(film, drawn.facts[0])
    while len(talk) < turns:
        asked = {each.drawn.facts[0] for each in talk}
        fact = _next_fact(random, film, person, asked)
        if fact is None or random.random() < _CHANGED:
            film = films.draw(random)
            person = None
            fact = random.choice((film.facts()[0], *film.facts()))
            drawn = one_hop.fact_question(film, fact)
            spoken = drawn.question
        else:
            drawn = one_hop.fact_question(film, fact)
            spoken = follow_up(fact)
        person = _named(film, fact) if fact.relation in _NAMES else person
        talk.append(Turn(spoken, drawn))
    return tuple(talk)


def follow_up(fact: Fact) -> str:
    """Return the question for a fact whose subject is the film or the person named last."""
    # The names are invented: a first name has the same pronoun everywhere.
    first = fact.subject.split()[0]
    feminine = first in names.FIRST_NAMES and names.FIRST_NAMES.index(first) % 2 == 0
    she, her = ("she", "her") if feminine else ("he", "his")
    return FOLLOW_UPS[fact.relation].format(she=she, her=her)


def _next_fact(
    random: Random, film: Film, person: Subject | None, asked: Collection[Fact]
) -> Fact | None:
    """Draw a fact of the film or of the person named last that was not asked for, if any."""
    of_film = [fact for fact in film.facts() if fact not in asked]
    of_person = [fact for fact in person.facts if fact not in asked] if person else []
    if of_person and (not of_film or random.random() < _OF_PERSON):
        return random.choice(of_person)
    return random.choice(of_film) if of_film else None


def _named(film: Film, fact: Fact) -> Subject | None:
    """Return the person that the value of a fact names, if the world has facts of them."""
    return next((each for each in film.subjects()[1:] if each.name == fact.value), None)
