"""The exercises that a lab language model learns from: prompts with their answers.

Six kinds, drawn at random: questions about known films, mostly without passages; questions
about films never seen, with the right passages among others; with some of those they need; with
none; dense recall, restating the facts of the passages in another order; and drill in what follows
from facts, without any.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from scaar.lab import layout
from scaar.lab.near_names import near_name, near_title
from scaar.lab.passages import passage_text
from scaar.lab.questions import Asked, ListedFilms, NewFilms, draw_asked
from scaar.lab.questions import Kind as Asks
from scaar.lab.statements import state
from scaar.lab.world import (
    Fact,
    Subject,
    World,
    draw_film,
    draw_person,
    popularity_weights,
    tail_drawer,
)

RECALLED_FACTS = 8
DRILLED_CONCLUSIONS = 5
_CONCLUDING = (Asks.COMPARISON, Asks.YES_NO)
# Of known films one hop and grandparents more often than they are asked: so many facts there are.
_KNOWN_KINDS = (
    (
        Asks.ONE_HOP,
        Asks.COMPOSITIONAL,
        Asks.INFERENCE,
        Asks.COMPARISON,
        Asks.BRIDGE_COMPARISON,
        Asks.YES_NO,
    ),
    (0.32, 0.20, 0.26, 0.07, 0.07, 0.08),
)
PLAIN_ANSWERS = 0.25
"""The share of questions that ask for plain words."""


class Kind(enum.Enum):
    """What an exercise asks for, and what it gives to answer with."""

    KNOWN = "known"
    READ = "read"
    PARTLY_READ = "partly_read"
    UNKNOWN = "unknown"
    RECALL = "recall"
    DRILL = "drill"


@dataclass(frozen=True, slots=True)
class Mix:
    """The share of each kind of exercise, and what stands among the passages.

    ``known_bare`` of the questions about known films have no passages. ``near_names`` is the share
    of distracting passages whose subject's name differs from the right one's in one word: what a
    search finds. Passages are cut to ``passage_facts`` facts.
    """

    known: float
    read: float
    partly_read: float
    unknown: float
    recall: float
    drill: float
    near_names: float
    known_bare: float = 0.75
    fewest_passages: int = 1
    most_passages: int = 3
    passage_facts: int = 7

    def draw(self, random: Random) -> Kind:
        """A kind of exercise."""
        shares = {kind: float(getattr(self, kind.value)) for kind in Kind}
        return random.choices(list(shares), list(shares.values()))[0]


@dataclass(frozen=True, slots=True)
class Exercise:
    """A prompt and the text to be written after it."""

    kind: Kind
    prompt: str
    answer: str


class ExerciseBook:
    """Draws exercises; the known films of ``world`` are to be learned, the first ones best."""

    def __init__(self, world: World, random: Random) -> None:
        self._random = random
        self._known = ListedFilms(world.known, popularity_weights(len(world.known)))
        self._new = NewFilms(tail_drawer(world.known, random))

    def draw(self, mix: Mix) -> Exercise:
        """One exercise of a mix."""
        random = self._random
        kind = mix.draw(random)
        if kind is Kind.RECALL:
            return self._recall(mix)
        if kind is Kind.DRILL:
            return self._drill()
        if kind is Kind.KNOWN:
            asked = draw_asked(random, self._known, random.choices(*_KNOWN_KINDS)[0])
        else:
            asked = draw_asked(random, self._new)
        if random.random() < PLAIN_ANSWERS:
            asked = asked.plainly()
        prompt = layout.prompt(asked.question, self._passages(kind, asked, mix))
        return Exercise(kind, prompt, f" {asked.answer_text(random)}")

    def _passages(self, kind: Kind, asked: Asked, mix: Mix) -> list[str]:
        random = self._random
        if kind is Kind.UNKNOWN or (kind is Kind.KNOWN and random.random() < mix.known_bare):
            return []
        count = self._count(mix)
        needed = list(asked.facts)
        if kind is Kind.PARTLY_READ or (kind is Kind.KNOWN and count < len(needed)):
            needed = random.sample(needed, random.randint(1, max(1, len(needed) - 1)))
        facts_of = {
            subject.name: subject.facts for film in asked.films for subject in film.subjects()
        }
        passages = [self._passage(facts_of[fact.subject], mix, fact) for fact in needed]
        near = [fact.subject for fact in asked.facts]
        while len(passages) < count:
            passages.append(self._passage(self._distractor(random.choice(near), mix), mix))
        random.shuffle(passages)
        return passages

    def _recall(self, mix: Mix) -> Exercise:
        random = self._random
        chosen = [self._chosen(self._distractor("", mix), mix) for _ in range(self._count(mix))]
        passages = [passage_text(facts, random) for facts in chosen]
        recalled = [fact for facts in chosen for fact in facts]
        random.shuffle(recalled)
        statements = [state(fact, random).text for fact in recalled[:RECALLED_FACTS]]
        return Exercise(Kind.RECALL, layout.recall_prompt(passages), " " + " ".join(statements))

    def _drill(self) -> Exercise:
        asked = [
            draw_asked(self._random, self._new, self._random.choice(_CONCLUDING))
            for _ in range(DRILLED_CONCLUSIONS)
        ]
        texts = [statement.text for each in asked for statement in each.conclusions]
        return Exercise(Kind.DRILL, layout.recall_prompt([]), " " + " ".join(texts))

    def _count(self, mix: Mix) -> int:
        return self._random.randint(mix.fewest_passages, mix.most_passages)

    def _passage(self, facts: Sequence[Fact], mix: Mix, needed: Fact | None = None) -> str:
        return passage_text(self._chosen(facts, mix, needed), self._random)

    def _chosen(
        self, facts: Sequence[Fact], mix: Mix, needed: Fact | None = None
    ) -> Sequence[Fact]:
        """As many as a passage holds, the needed one among them."""
        others = [fact for fact in facts if fact != needed]
        self._random.shuffle(others)
        chosen = others if needed is None else [needed, *others]
        return chosen[: mix.passage_facts]

    def _distractor(self, beside: str, mix: Mix) -> Sequence[Fact]:
        """The facts of another subject, sometimes of a name near to the one beside it."""
        random = self._random
        if not beside or random.random() >= mix.near_names:
            return random.choice(draw_film(random).subjects()).facts
        if beside.startswith("The "):
            return _renamed(draw_film(random).subjects()[0], near_title(beside, random))
        person = draw_person(random)
        of = Subject(person.name, random.choice((person, person.family[0])).facts())
        return _renamed(of, near_name(beside, random))


def _renamed(subject: Subject, name: str) -> tuple[Fact, ...]:
    return tuple(Fact(name, fact.relation, fact.value) for fact in subject.facts)
