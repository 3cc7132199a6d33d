"""Questions which of two films has the director who was born or died first."""

from random import Random

from scaar.lab.questions.asked import Asked, Kind, fact_of
from scaar.lab.questions.comparison import ORDERS, conclude, draw_apart, winner, year_of
from scaar.lab.questions.films import Films
from scaar.lab.world import Film, Relation

TEMPLATES = {
    Relation.BORN: "Which film has the director who was born {order}, {first} or {second}?",
    Relation.DIED: "Which film has the director who died {order}, {first} or {second}?",
}


def draw(random: Random, films: Films) -> Asked:
    """Two films, what of their directors to compare, and which one is asked for."""
    relation, order = random.choice(list(TEMPLATES)), random.choice(list(ORDERS))
    return ask_of_directors(draw_apart(random, films, relation), relation, order)


def ask_of_directors(pair: tuple[Film, Film], relation: Relation, order: str) -> Asked:
    """The question which film's director came ``first`` or ``later``."""
    won = winner(pair, relation, order)
    years = [(year_of(film, relation), film.title) for film in pair]
    return Asked(
        kind=Kind.BRIDGE_COMPARISON,
        wanted=f"{relation} {order}",
        films=pair,
        question=TEMPLATES[relation].format(order=order, first=pair[0].title, second=pair[1].title),
        facts=(
            *(fact_of(film.facts(), Relation.DIRECTOR) for film in pair),
            *(fact_of(film.director.facts(), relation) for film in pair),
        ),
        answer=pair[won].title,
        conclusions=conclude(years, won, order),
    )
