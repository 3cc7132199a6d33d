"""Questions about the director of a film, whom the reader must find first."""

from random import Random

from scaar.lab.questions.drawn_question import DrawnQuestion, Kind, fact_of
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


def draw(random: Random, films: Films) -> DrawnQuestion:
    """Draw a film, and a relation of its director."""
    return director_question(films.draw(random), random.choice(list(TEMPLATES)))


def director_question(film: Film, relation: Relation) -> DrawnQuestion:
    """Build the question for a relation of the film's director."""
    facts = (
        fact_of(film.facts(), Relation.DIRECTOR),
        fact_of(film.director.facts(), relation),
    )
    question = TEMPLATES[relation].format(title=film.title)
    return DrawnQuestion(
        Kind.COMPOSITIONAL, relation.value, (film,), question, facts, facts[-1].value
    )
