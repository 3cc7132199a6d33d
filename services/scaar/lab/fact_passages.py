"""Passages of one fact each, and queries with the facts that answer them.

Passages of the default world state all facts of a subject, and BM25 finds them by the name alone.
Of passages with one fact each, a query needs the one that states the requested fact: name and
relation decide, and the value of a wrong draft misleads.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from scaar.lab.passages import LabPassage, passage_id
from scaar.lab.questions import ListedFilms, draw_question
from scaar.lab.statements import state
from scaar.lab.world import SUBJECTS, Fact, Film, World


@dataclass(frozen=True, slots=True)
class FactQuery:
    """A query, and the ids of the passages that answer it."""

    text: str
    relevant: tuple[str, ...]


def fact_passages_of(world: World) -> Iterator[LabPassage]:
    """Yield a passage for every fact of a world, titled with its subject."""
    random = Random(f"fact passages {world.seed}")
    for index, film in enumerate(world.films):
        for fact_id, fact in _facts(film, index):
            yield LabPassage(fact_id, fact.subject, state(fact, random).text)


def draw_fact_queries(
    world: World, *, count: int
) -> tuple[tuple[FactQuery, ...], tuple[FactQuery, ...]]:
    """Draw ``count`` questions about tail films, and a draft with a wrong value for each.

    Relevant are the facts that a question needs about subjects that it names, or the drafted fact.
    """
    random = Random(f"fact queries {world.seed}")
    films = ListedFilms(world.tail)
    ids = {
        fact: fact_id
        for index, film in enumerate(world.films)
        for fact_id, fact in _facts(film, index)
    }
    questions, drafts = [], []
    for _ in range(count):
        drawn = draw_question(random, films)
        named = [fact for fact in drawn.facts if fact.subject in drawn.question]
        questions.append(FactQuery(drawn.question, tuple(ids[fact] for fact in named)))
        fact = random.choice(drawn.facts)
        wrong = replace(fact, value=_another_value(fact, films, random))
        drafts.append(FactQuery(state(wrong, random).text, (ids[fact],)))
    return tuple(questions), tuple(drafts)


def _another_value(fact: Fact, films: ListedFilms, random: Random) -> str:
    while True:
        for subject in films.draw(random).subjects():
            for other in subject.facts:
                if other.relation is fact.relation and other.value != fact.value:
                    return other.value


def _facts(film: Film, index: int) -> Iterator[tuple[str, Fact]]:
    for what, subject in zip(SUBJECTS, film.subjects(), strict=True):
        for fact in subject.facts:
            relation = fact.relation.value.replace(" ", "-").replace("_", "-")
            yield f"{passage_id(what, index)}-{relation}", fact
