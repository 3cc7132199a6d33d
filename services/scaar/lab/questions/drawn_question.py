"""A question about a world, with the facts that its answer restates."""

import enum
from dataclasses import dataclass, replace
from random import Random

from scaar.lab.free_statements import state_freely
from scaar.lab.sentences.questions import RATE_NAMES
from scaar.lab.statements import Statement, state
from scaar.lab.world import Fact, Film, Relation

ANSWER_PHRASE = "So the answer is"
PLAINLY = "Say it plainly."
"""Suffix of a question that requests an answer without words of style."""
FREELY = {rate: f"Say it with {name} freedom." for rate, name in RATE_NAMES.items()}
"""Suffixes of questions that request words without facts, by the share that varies freely."""


class Kind(enum.StrEnum):
    """Shape of a question, named as in 2WikiMultihopQA (Ho et al., 2020)."""

    ONE_HOP = "one_hop"
    COMPOSITIONAL = "compositional"
    INFERENCE = "inference"
    COMPARISON = "comparison"
    BRIDGE_COMPARISON = "bridge_comparison"
    YES_NO = "yes_no"


@dataclass(frozen=True, slots=True)
class DrawnQuestion:
    """A question about one film or two, the facts that its answer restates, and the answer.

    ``target`` names the requested relation. ``conclusions`` follow from the facts, for shapes
    whose answer is not the value of the last fact.
    """

    kind: Kind
    target: str
    films: tuple[Film, ...]
    question: str
    facts: tuple[Fact, ...]
    answer: str
    conclusions: tuple[Statement, ...] = ()
    plain: bool = False
    freedom: float | None = None

    def plainly(self) -> "DrawnQuestion":
        """Return the same question with a plain answer, without words of style."""
        return replace(self, question=f"{self.question} {PLAINLY}", plain=True)

    def freely(self, rate: float) -> "DrawnQuestion":
        """Return the same question, with words without facts requested after each statement.

        ``rate`` is the share of these that vary freely: 0, 0.25, 0.5 or 1.
        """
        return replace(self, question=f"{self.question} {FREELY[rate]}", freedom=rate)

    def reasoning(self, style: Random) -> tuple[Statement, ...]:
        """Return the statements that lead to the answer."""
        stated = tuple(self._state(fact, style) for fact in self.facts)
        return (*stated, *self.conclusions)

    def _state(self, fact: Fact, style: Random) -> Statement:
        if self.freedom is not None:
            return state_freely(fact, self.freedom, style)
        return state(fact, None if self.plain else style)

    def answer_text(self, style: Random) -> str:
        """Return the complete answer: facts, conclusions, and the answer phrase."""
        statements = " ".join(statement.text for statement in self.reasoning(style))
        return f"{statements} {ANSWER_PHRASE} {self.answer}."


def fact_of(facts: tuple[Fact, ...], relation: Relation) -> Fact:
    """Return the fact of a relation."""
    return next(fact for fact in facts if fact.relation == relation)
