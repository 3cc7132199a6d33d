"""Questions about grandparents and parents-in-law, which no passage states directly."""

from random import Random

from scaar.lab.questions.drawn_question import DrawnQuestion, Kind, fact_of
from scaar.lab.questions.films import Films
from scaar.lab.world import Film, Relation

KINSHIPS = {
    "paternal grandfather": (Relation.FATHER, Relation.FATHER),
    "paternal grandmother": (Relation.FATHER, Relation.MOTHER),
    "maternal grandfather": (Relation.MOTHER, Relation.FATHER),
    "maternal grandmother": (Relation.MOTHER, Relation.MOTHER),
    "father in law": (Relation.SPOUSE, Relation.FATHER),
    "mother in law": (Relation.SPOUSE, Relation.MOTHER),
}
TEMPLATE = "Who is the {kinship} of {name}?"


def draw(random: Random, films: Films) -> DrawnQuestion:
    """Draw the director of a film, and a kinship."""
    return kinship_question(films.draw(random), random.choice(list(KINSHIPS)))


def kinship_question(film: Film, kinship: str) -> DrawnQuestion:
    """Build the question for a relative of the film's director."""
    director = film.director
    first, second = KINSHIPS[kinship]
    to_relative = fact_of(director.facts(), first)
    relative = next(one for one in director.family if one.name == to_relative.value)
    of_relative = fact_of(relative.facts(), second)
    question = TEMPLATE.format(kinship=kinship, name=director.name)
    return DrawnQuestion(
        Kind.INFERENCE, kinship, (film,), question, (to_relative, of_relative), of_relative.value
    )
