"""Questions that compare the directors of two films by year of birth or death."""

from random import Random

from scaar.lab.questions.comparison import ORDERS, conclude, draw_apart, winner, year_of
from scaar.lab.questions.drawn_question import DrawnQuestion, Kind, fact_of
from scaar.lab.questions.films import Films
from scaar.lab.world import Film, Relation

TEMPLATES = {
    Relation.BORN: "Which film has the director who was born {order}, {first} or {second}?",
    Relation.DIED: "Which film has the director who died {order}, {first} or {second}?",
}


def draw(random: Random, films: Films) -> DrawnQuestion:
    """Draw two films, the years of their directors to compare, and the order."""
    relation, order = random.choice(list(TEMPLATES)), random.choice(list(ORDERS))
    return director_order_question(draw_apart(random, films, relation), relation, order)


def director_order_question(
    pair: tuple[Film, Film], relation: Relation, order: str
) -> DrawnQuestion:
    """Build the question of which film's director came ``first`` or ``later``."""
    won = winner(pair, relation, order)
    years = [(year_of(film, relation), film.title) for film in pair]
    return DrawnQuestion(
        kind=Kind.BRIDGE_COMPARISON,
        target=f"{relation} {order}",
        films=pair,
        question=TEMPLATES[relation].format(order=order, first=pair[0].title, second=pair[1].title),
        facts=(
            *(fact_of(film.facts(), Relation.DIRECTOR) for film in pair),
            *(fact_of(film.director.facts(), relation) for film in pair),
        ),
        answer=pair[won].title,
        conclusions=conclude(years, won, order),
    )
