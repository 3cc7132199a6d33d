"""Training exercises of the lab's language models: prompts with answers.

There are six kinds, drawn at random: questions about known films, mostly without passages;
questions about new films with all needed passages among others, with some of the needed passages,
or with none; recall, which restates the facts of passages in another order; and drill of
conclusions without facts.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from scaar.lab import layout
from scaar.lab.near_names import near_name, near_title
from scaar.lab.passages import passage_text
from scaar.lab.questions import DrawnQuestion, ListedFilms, NewFilms, draw_question
from scaar.lab.questions import Kind as QuestionKind
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
_CONCLUDING = (QuestionKind.COMPARISON, QuestionKind.YES_NO)
# For known films, more one-hop and inference questions than in data sets: they have the most facts.
_KNOWN_KINDS = (
    (
        QuestionKind.ONE_HOP,
        QuestionKind.COMPOSITIONAL,
        QuestionKind.INFERENCE,
        QuestionKind.COMPARISON,
        QuestionKind.BRIDGE_COMPARISON,
        QuestionKind.YES_NO,
    ),
    (0.32, 0.20, 0.26, 0.07, 0.07, 0.08),
)
PLAIN_ANSWERS = 0.25
"""Share of questions that request plain words."""


class Kind(enum.Enum):
    """Kind of an exercise."""

    KNOWN = "known"
    READ = "read"
    PARTLY_READ = "partly_read"
    UNKNOWN = "unknown"
    RECALL = "recall"
    DRILL = "drill"


@dataclass(frozen=True, slots=True)
class Mix:
    """Share of each kind of exercise, and the composition of the passages.

    ``known_bare`` is the share of questions about known films without passages. ``near_names`` is
    the share of distracting passages whose subject's name differs from the right one in one word,
    as in search results. Passages contain at most ``passage_facts`` facts.
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
        """Draw a kind of exercise."""
        shares = {kind: float(getattr(self, kind.value)) for kind in Kind}
        return random.choices(list(shares), list(shares.values()))[0]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a continuation, and the weight of its tokens in the loss."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Exercise:
    """A prompt and its continuation."""

    kind: Kind
    prompt: str
    answer: str

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part(self.answer),)

    @property
    def ends(self) -> bool:
        """Whether the end token follows."""
        return True


class ExerciseBook:
    """Draws exercises. The model learns the known films of ``world``, the first ones best.

    With ``rates`` of free words, every question requests one of them; otherwise some questions
    request plain words.
    """

    def __init__(self, world: World, random: Random, *, rates: Sequence[float] = ()) -> None:
        self._random = random
        self._rates = rates
        self._known = ListedFilms(world.known, popularity_weights(len(world.known)))
        self._new = NewFilms(tail_drawer(world.known, random))

    def draw(self, mix: Mix) -> Exercise:
        """Draw an exercise of a mix."""
        random = self._random
        kind = mix.draw(random)
        if kind is Kind.RECALL:
            return self._recall(mix)
        if kind is Kind.DRILL:
            return self._drill()
        if kind is Kind.KNOWN:
            drawn = draw_question(random, self._known, random.choices(*_KNOWN_KINDS)[0])
        else:
            drawn = draw_question(random, self._new)
        if self._rates:
            drawn = drawn.freely(random.choice(self._rates))
        elif random.random() < PLAIN_ANSWERS:
            drawn = drawn.plainly()
        prompt = layout.prompt(drawn.question, self._passages(kind, drawn, mix))
        return Exercise(kind, prompt, f" {drawn.answer_text(random)}")

    def _passages(self, kind: Kind, drawn: DrawnQuestion, mix: Mix) -> list[str]:
        random = self._random
        if kind is Kind.UNKNOWN or (kind is Kind.KNOWN and random.random() < mix.known_bare):
            return []
        count = self._count(mix)
        needed = list(drawn.facts)
        if kind is Kind.PARTLY_READ or (kind is Kind.KNOWN and count < len(needed)):
            needed = random.sample(needed, random.randint(1, max(1, len(needed) - 1)))
        facts_of = {
            subject.name: subject.facts for film in drawn.films for subject in film.subjects()
        }
        passages = [self._passage(facts_of[fact.subject], mix, fact) for fact in needed]
        near = [fact.subject for fact in drawn.facts]
        while len(passages) < count:
            passages.append(
                self._passage(distractor(random, random.choice(near), mix.near_names), mix)
            )
        random.shuffle(passages)
        return passages

    def _recall(self, mix: Mix) -> Exercise:
        random = self._random
        chosen = [
            self._chosen(distractor(random, "", mix.near_names), mix)
            for _ in range(self._count(mix))
        ]
        passages = [passage_text(facts, random) for facts in chosen]
        recalled = [fact for facts in chosen for fact in facts]
        random.shuffle(recalled)
        statements = [state(fact, random).text for fact in recalled[:RECALLED_FACTS]]
        return Exercise(Kind.RECALL, layout.recall_prompt(passages), " " + " ".join(statements))

    def _drill(self) -> Exercise:
        drawn = [
            draw_question(self._random, self._new, self._random.choice(_CONCLUDING))
            for _ in range(DRILLED_CONCLUSIONS)
        ]
        texts = [statement.text for each in drawn for statement in each.conclusions]
        return Exercise(Kind.DRILL, layout.recall_prompt([]), " " + " ".join(texts))

    def _count(self, mix: Mix) -> int:
        return self._random.randint(mix.fewest_passages, mix.most_passages)

    def _passage(self, facts: Sequence[Fact], mix: Mix, needed: Fact | None = None) -> str:
        return passage_text(self._chosen(facts, mix, needed), self._random)

    def _chosen(
        self, facts: Sequence[Fact], mix: Mix, needed: Fact | None = None
    ) -> Sequence[Fact]:
        """Draw the facts of a passage, which include the needed one."""
        others = [fact for fact in facts if fact != needed]
        self._random.shuffle(others)
        chosen = others if needed is None else [needed, *others]
        return chosen[: mix.passage_facts]


def distractor(random: Random, beside: str, near_names: float) -> Sequence[Fact]:
    """Draw the facts of another subject, sometimes with a name similar to ``beside``."""
    if not beside or random.random() >= near_names:
        return random.choice(draw_film(random).subjects()).facts
    if beside.startswith("The "):
        return _renamed(draw_film(random).subjects()[0], near_title(beside, random))
    person = draw_person(random)
    of = Subject(person.name, random.choice((person, person.family[0])).facts())
    return _renamed(of, near_name(beside, random))


def _renamed(subject: Subject, name: str) -> tuple[Fact, ...]:
    return tuple(Fact(name, fact.relation, fact.value) for fact in subject.facts)
