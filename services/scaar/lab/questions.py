"""Questions about a world, in the shapes of 2WikiMultihopQA, with answers and supports."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from scaar.lab.statements import Statement, state
from scaar.lab.world import Fact, Film, Relation, World, popularity_weights

ANSWER_PHRASE = "So the answer is"

ONE_HOP = {
    Relation.DIRECTOR: "Who directed the film {title}?",
    Relation.RELEASED: "When was the film {title} released?",
    Relation.STAR: "Who stars in the film {title}?",
}
TWO_HOP = {
    Relation.BORN: "When was the director of the film {title} born?",
    Relation.BIRTHPLACE: "Where was the director of the film {title} born?",
    Relation.DIED: "When did the director of the film {title} die?",
    Relation.COUNTRY: "Which country is the director of the film {title} from?",
    Relation.FATHER: "Who is the father of the director of the film {title}?",
    Relation.MOTHER: "Who is the mother of the director of the film {title}?",
    Relation.SPOUSE: "Who is the spouse of the director of the film {title}?",
}
RELATIONS = (*ONE_HOP, *TWO_HOP)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a film, the facts that its answer restates in order, and the answer."""

    film: Film
    relation: Relation
    question: str
    facts: tuple[Fact, ...]

    @property
    def answer(self) -> str:
        return self.facts[-1].value

    @property
    def kind(self) -> str:
        return "one_hop" if len(self.facts) == 1 else "two_hop"

    def reasoning(self, style: Random) -> tuple[Statement, ...]:
        """The statements that lead to the answer."""
        return tuple(state(fact, style) for fact in self.facts)

    def answer_text(self, style: Random) -> str:
        """The whole answer: every fact restated, then the answer phrase."""
        statements = " ".join(statement.text for statement in self.reasoning(style))
        return f"{statements} {ANSWER_PHRASE} {self.answer}."


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the data set holds it."""

    id: str
    question: str
    answers: tuple[str, ...]
    kind: str
    split: str
    supports: tuple[str, ...]


def ask(film: Film, relation: Relation) -> Asked:
    """The question that asks for ``relation``, of the film or of its director."""
    if relation in ONE_HOP:
        fact = next(fact for fact in film.facts() if fact.relation == relation)
        return Asked(film, relation, ONE_HOP[relation].format(title=film.title), (fact,))
    directed = film.facts()[0]
    fact = next(fact for fact in film.director.facts() if fact.relation == relation)
    return Asked(film, relation, TWO_HOP[relation].format(title=film.title), (directed, fact))


def draw_questions(world: World, *, count: int, split: str | None = None) -> list[Question]:
    """``count`` distinct questions of a world, each a function of the world's seed.

    ``head`` questions are about known films, drawn by popularity; ``tail`` questions about the
    world's own films, drawn evenly. Without a split the two alternate.

    Raises:
        ValueError: an unknown split, or more questions than the world has.
    """
    splits = ("head", "tail") if split is None else (split,)
    if not set(splits) <= {"head", "tail"}:
        raise ValueError(f"split must be head or tail, not {split!r}")
    most = _most(world, splits)
    if not 0 <= count <= most:
        raise ValueError(f"count must be 0 to {most} for this world and split, not {count}")
    streams = {name: _stream(world, name) for name in splits}
    return [next(streams[splits[index % len(splits)]]) for index in range(count)]


def _most(world: World, splits: tuple[str, ...]) -> int:
    films = {"head": len(world.known), "tail": len(world.tail)}
    # Drawing by popularity finds the last pairs of the last films slowly: half of them are offered.
    return min(films[name] for name in splits) * len(RELATIONS) // 2 * len(splits)


def _stream(world: World, split: str) -> Iterator[Question]:
    """Distinct questions of a split, until every one has been drawn."""
    random = Random(f"questions {world.seed} {split}")
    offset, films = (0, world.known) if split == "head" else (len(world.known), world.tail)
    weights = popularity_weights(len(films)) if split == "head" else None
    seen: set[tuple[int, Relation]] = set()
    while len(seen) < len(films) * len(RELATIONS):
        index = random.choices(range(len(films)), weights)[0]
        relation = random.choice(RELATIONS)
        if (index, relation) in seen:
            continue
        seen.add((index, relation))
        asked = ask(films[index], relation)
        film_id, person_id = passage_ids(offset + index)
        yield Question(
            id=f"{split}-{index:04d}-{relation.value}",
            question=asked.question,
            answers=(asked.answer,),
            kind=asked.kind,
            split=split,
            supports=(film_id,) if len(asked.facts) == 1 else (film_id, person_id),
        )


def passage_ids(index: int) -> tuple[str, str]:
    """The ids of the passages about film ``index`` of a world and about its director."""
    return f"film-{index:04d}", f"person-{index:04d}"
