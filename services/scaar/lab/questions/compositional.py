"""Questions about a film's director, who has to be found first."""

from random import Random

from scaar.lab.questions.asked import Asked, Kind, fact_of
from scaar.lab.questions.films import Films
from scaar.lab.world import Film, Relation

TEMPLATES = {
    Relation.BORN: "When was the director of the film {title} born?",
    Relation.BIRTHPLACE: "Where was the director of the film {title} born?",
    Relation.DIED: "When did the director of the film {title} die?",
    Relation.COUNTRY: "Which country is the director of the film {title} from?",
    Relation.FATHER: "Who is the father of the director of the film {title}?",
    Relation.MOTHER: "Who is the mother of the director of the film {title}?",
    Relation.SPOUSE: "Who is the spouse of the director of the film {title}?",
}


def draw(random: Random, films: Films) -> Asked:
    """A film, then a fact of its director."""
    return ask_of_director(films.draw(random), random.choice(list(TEMPLATES)))


def ask_of_director(film: Film, relation: Relation) -> Asked:
    """The question that asks for a relation of the film's director."""
    facts = (
        fact_of(film.facts(), Relation.DIRECTOR),
        fact_of(film.director.facts(), relation),
    )
    question = TEMPLATES[relation].format(title=film.title)
    return Asked(Kind.COMPOSITIONAL, relation.value, (film,), question, facts, facts[-1].value)
