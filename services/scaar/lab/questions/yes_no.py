"""Yes-or-no questions about whether two films, or their directors, have something in common."""

from random import Random

from scaar.lab.questions.drawn_question import DrawnQuestion, Kind, fact_of
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


def draw(random: Random, films: Films) -> DrawnQuestion:
    """Draw two films and a relation to compare. Half of the answers are yes, if possible."""
    templates, relation = random.choice(_ALL)
    first, second = films.draw(random), films.draw(random)
    if random.random() < 0.5:
        second = films.draw_with(random, relation, value_of(first, relation))
    return sameness_question((first, second), relation, templates)


def sameness_question(
    pair: tuple[Film, Film], relation: Relation, templates: dict[Relation, str]
) -> DrawnQuestion:
    """Build the question, from one of the tables, of whether both have the same value."""
    of_films = [film.facts() for film in pair]
    of_directors = [film.director.facts() for film in pair]
    compared = [
        fact_of(facts, relation) for facts in (of_films if templates is OF_FILMS else of_directors)
    ]
    names, before, target = [fact.subject for fact in compared], [], f"same {relation}"
    if templates is OF_DIRECTORS:
        names = [film.title for film in pair]
        before = [fact_of(facts, Relation.DIRECTOR) for facts in of_films]
        target += " of directors"
    first, second = (fact.value for fact in compared)
    return DrawnQuestion(
        kind=Kind.YES_NO,
        target=target,
        films=pair,
        question=templates[relation].format(first=names[0], second=names[1]),
        facts=(*before, *compared),
        answer="yes" if first == second else "no",
        conclusions=(state_sameness(first, second),),
    )
