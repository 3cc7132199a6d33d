"""A question about a world: what it asks for, what its answer restates, and the answer."""

import enum
from dataclasses import dataclass, replace
from random import Random

from scaar.lab.statements import Statement, state
from scaar.lab.world import Fact, Film, Relation

ANSWER_PHRASE = "So the answer is"
PLAINLY = "Say it plainly."
"""Asks for an answer without words of style."""


class Kind(enum.StrEnum):
    """The shapes of questions, named as in 2WikiMultihopQA (Ho et al., 2020)."""

    ONE_HOP = "one_hop"
    COMPOSITIONAL = "compositional"
    INFERENCE = "inference"
    COMPARISON = "comparison"
    BRIDGE_COMPARISON = "bridge_comparison"
    YES_NO = "yes_no"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about one film or two, the facts that its answer restates in order, the answer.

    ``wanted`` says in a word or two what is asked for; ``conclusions`` are what follows from the
    facts, where the last of these is not the answer itself.
    """

    kind: Kind
    wanted: str
    films: tuple[Film, ...]
    question: str
    facts: tuple[Fact, ...]
    answer: str
    conclusions: tuple[Statement, ...] = ()
    plain: bool = False

    def plainly(self) -> "Asked":
        """The same question, to be answered without words of style."""
        return replace(self, question=f"{self.question} {PLAINLY}", plain=True)

    def reasoning(self, style: Random) -> tuple[Statement, ...]:
        """The statements that lead to the answer."""
        stated = tuple(state(fact, None if self.plain else style) for fact in self.facts)
        return (*stated, *self.conclusions)

    def answer_text(self, style: Random) -> str:
        """The whole answer: every fact restated, what follows, then the answer phrase."""
        statements = " ".join(statement.text for statement in self.reasoning(style))
        return f"{statements} {ANSWER_PHRASE} {self.answer}."


def fact_of(facts: tuple[Fact, ...], relation: Relation) -> Fact:
    """The fact of a relation."""
    return next(fact for fact in facts if fact.relation == relation)
