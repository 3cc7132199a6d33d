"""Training pairs of the lab's reranker: a query, a passage, and whether the passage answers it.

A query is a question, or a drafted sentence that may state a wrong value. A passage is relevant if
it states a fact that the question needs about a subject that it names, or the drafted fact, with
any value. Other passages resemble relevant ones: they are about the same subject without the fact,
or about a subject with a similar name, or state the drafted value of another subject.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from scaar.lab.near_names import near_name, near_title
from scaar.lab.passages import passage_text
from scaar.lab.questions import DrawnQuestion, NewFilms, draw_question
from scaar.lab.statements import state
from scaar.lab.training.exercises import PLAIN_ANSWERS
from scaar.lab.training.pairs import Pair
from scaar.lab.world import Fact, Subject, draw_film

MAX_FACTS = 4
"""Maximum number of facts of a passage; half of the passages state one."""

_IRRELEVANT = 0.02
_RELEVANT = 0.98
"""Labels, which leave the logits finite."""


@dataclass(frozen=True, slots=True)
class _Query:
    """A query, the facts that answer it, and the fact that it states, if any."""

    text: str
    facts: tuple[Fact, ...]
    stated: Fact | None = None


def draw_relevance_pair(random: Random) -> Pair:
    """Draw a query and a passage, title first, with the passage's relevance."""
    films = NewFilms(partial(draw_film, random))
    drawn = draw_question(random, films)
    subjects = {each.name: each for film in drawn.films for each in film.subjects()}
    query = _question(random, drawn) if random.random() < 0.5 else _draft(random, drawn)
    needed = random.choice(query.facts)
    own = subjects[needed.subject]
    way = random.random()
    if way < 0.4:
        return _pair(random, query, _some(own, random, including=needed), relevant=True)
    if way < 0.65:
        others = [each for each in own.facts if each not in query.facts]
        chosen = _some(replace(own, facts=tuple(others)), random)
    elif way < 0.9:
        chosen = _about_similar(needed, random)
    elif way < 0.97 and query.stated is not None:
        chosen = (replace(query.stated, subject=_stranger(query.stated, random)),)
    else:
        chosen = _some(random.choice(draw_film(random).subjects()), random)
    return _pair(random, query, chosen, relevant=False)


def _question(random: Random, drawn: DrawnQuestion) -> _Query:
    spoken = drawn.plainly() if random.random() < PLAIN_ANSWERS else drawn
    named = tuple(each for each in drawn.facts if each.subject in drawn.question)
    return _Query(spoken.question, named)


def _draft(random: Random, drawn: DrawnQuestion) -> _Query:
    fact = random.choice(drawn.facts)
    stated = fact
    if random.random() < 0.7:
        values = [
            each.value
            for subject in draw_film(random).subjects()
            for each in subject.facts
            if each.relation is fact.relation
        ]
        stated = replace(fact, value=random.choice(values or [fact.value]))
    return _Query(state(stated, random).text, (fact,), stated)


def _stranger(fact: Fact, random: Random) -> str:
    """Return the name of another subject that can have the relation of a fact."""
    names = [
        subject.name
        for subject in draw_film(random).subjects()
        if fact.relation in {each.relation for each in subject.facts}
    ]
    return random.choice(names)


def _about_similar(needed: Fact, random: Random) -> Sequence[Fact]:
    """Return facts of a subject whose name differs in one word, often of the same relation."""
    near = near_title if needed.subject.startswith("The ") else near_name
    name = near(needed.subject, random)
    found = [
        each
        for subject in draw_film(random).subjects()
        if needed.relation in {fact.relation for fact in subject.facts}
        for each in subject.facts
    ]
    renamed = [replace(each, subject=name) for each in found]
    same = [each for each in renamed if each.relation is needed.relation]
    if same and random.random() < 0.6:
        return _some(Subject(name, tuple(renamed)), random, including=same[0])
    return _some(Subject(name, tuple(renamed)), random)


def _some(of: Subject, random: Random, *, including: Fact | None = None) -> Sequence[Fact]:
    """Return some facts of a subject, in random order."""
    others = [each for each in of.facts if each != including]
    random.shuffle(others)
    chosen = others if including is None else [including, *others]
    count = 1 if random.random() < 0.5 else random.randint(2, MAX_FACTS)
    return chosen[:count]


def _pair(random: Random, query: _Query, facts: Sequence[Fact], *, relevant: bool) -> Pair:
    title = facts[0].subject if facts else ""
    text = f"{title} {passage_text(facts, random)}"
    return Pair(query.text, text, _RELEVANT if relevant else _IRRELEVANT)
