"""Questions whether something is the same of two films, or of their directors."""

from random import Random

from scaar.lab.questions.asked import Asked, Kind, fact_of
from scaar.lab.questions.films import Films, value_of
from scaar.lab.statements import state_sameness
from scaar.lab.world import Film, Relation

OF_FILMS = {
    Relation.RELEASED: "Were the films {first} and {second} released in the same year?",
}
OF_PERSONS = {
    Relation.COUNTRY: "Are {first} and {second} from the same country?",
    Relation.BIRTHPLACE: "Were {first} and {second} born in the same place?",
}
OF_DIRECTORS = {
    Relation.COUNTRY: "Are the directors of the films {first} and {second} from the same country?",
    Relation.BIRTHPLACE: (
        "Were the directors of the films {first} and {second} born in the same place?"
    ),
}
_ALL = tuple(
    (templates, relation)
    for templates in (OF_FILMS, OF_PERSONS, OF_DIRECTORS)
    for relation in templates
)
TEMPLATES = tuple(templates[relation] for templates, relation in _ALL)


def draw(random: Random, films: Films) -> Asked:
    """Two films and what to compare; as often the same as not, where the films allow it."""
    templates, relation = random.choice(_ALL)
    first, second = films.draw(random), films.draw(random)
    if random.random() < 0.5:
        second = films.draw_with(random, relation, value_of(first, relation))
    return ask_same((first, second), relation, templates)


def ask_same(pair: tuple[Film, Film], relation: Relation, templates: dict[Relation, str]) -> Asked:
    """The question, from one of the tables, whether a relation says the same of both."""
    of_films = [film.facts() for film in pair]
    of_directors = [film.director.facts() for film in pair]
    compared = [
        fact_of(facts, relation) for facts in (of_films if templates is OF_FILMS else of_directors)
    ]
    names, before, wanted = [fact.subject for fact in compared], [], f"same {relation}"
    if templates is OF_DIRECTORS:
        names = [film.title for film in pair]
        before = [fact_of(facts, Relation.DIRECTOR) for facts in of_films]
        wanted += " of directors"
    first, second = (fact.value for fact in compared)
    return Asked(
        kind=Kind.YES_NO,
        wanted=wanted,
        films=pair,
        question=templates[relation].format(first=names[0], second=names[1]),
        facts=(*before, *compared),
        answer="yes" if first == second else "no",
        conclusions=(state_sameness(first, second),),
    )
