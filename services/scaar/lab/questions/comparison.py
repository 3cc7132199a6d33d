"""Questions that compare the years of two films, or of their directors."""

from collections.abc import Sequence
from random import Random

from scaar.lab.questions.drawn_question import DrawnQuestion, Kind, fact_of
from scaar.lab.questions.films import Films, value_of
from scaar.lab.statements import Statement, state_order, state_years
from scaar.lab.world import Film, Relation

ORDERS = {"first": "earlier", "later": "later"}
OF_FILMS = {Relation.RELEASED: "Which film was released {order}, {first} or {second}?"}
OF_PERSONS = {
    Relation.BORN: "Who was born {order}, {first} or {second}?",
    Relation.DIED: "Who died {order}, {first} or {second}?",
}
TEMPLATES = OF_FILMS | OF_PERSONS


def draw(random: Random, films: Films) -> DrawnQuestion:
    """Draw two films, the years to compare, and the order."""
    relation, order = random.choice(list(TEMPLATES)), random.choice(list(ORDERS))
    return order_question(draw_apart(random, films, relation), relation, order)


def draw_apart(random: Random, films: Films, relation: Relation) -> tuple[Film, Film]:
    """Draw two films whose years of a relation differ."""
    while True:
        first, second = films.draw(random), films.draw(random)
        if year_of(first, relation) != year_of(second, relation):
            return first, second


def order_question(pair: tuple[Film, Film], relation: Relation, order: str) -> DrawnQuestion:
    """Build the question of which of two came ``first`` or ``later``."""
    if relation in OF_FILMS:
        facts = [fact_of(film.facts(), relation) for film in pair]
    else:
        facts = [fact_of(film.director.facts(), relation) for film in pair]
    years = [
        (year_of(film, relation), fact.subject) for film, fact in zip(pair, facts, strict=True)
    ]
    (_, first), (_, second) = years
    won = winner(pair, relation, order)
    return DrawnQuestion(
        kind=Kind.COMPARISON,
        target=f"{relation} {order}",
        films=pair,
        question=TEMPLATES[relation].format(order=order, first=first, second=second),
        facts=tuple(facts),
        answer=facts[won].subject,
        conclusions=conclude(years, won, order),
    )


def conclude(years: Sequence[tuple[str, str]], won: int, order: str) -> tuple[Statement, ...]:
    """Return the conclusions from two years with their owners; ``won`` is the answer's index."""
    return state_years(*years), state_order(ORDERS[order], *years[won])


def winner(pair: tuple[Film, Film], relation: Relation, order: str) -> int:
    """Return the index, 0 or 1, of the film that came ``first`` or ``later``."""
    first, second = (int(year_of(film, relation)) for film in pair)
    return int((second < first) == (order == "first"))


def year_of(film: Film, relation: Relation) -> str:
    """Return the year of a relation of a film or of its director."""
    return value_of(film, relation).split()[-1]
