"""Sentences of a form: the facts of a film, and words without facts, each word with its kind."""

import enum
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from scaar.lab.sentences.forms import SentenceForm
from scaar.lab.sentences.free_words import draw_others
from scaar.lab.world import Fact, Relation

MARKERS = {Relation.DIRECTOR: "by", Relation.RELEASED: "in", Relation.STAR: "with"}
"""The word before the value of each relation, in the order of a sentence's facts."""
VERB = "was"


class WordKind(enum.StrEnum):
    """Kind of a word in a sentence of a form."""

    SUBJECT = "subject"
    RELATION = "relation"
    VALUE = "value"
    FIXED = "fixed"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class FormedWord:
    """A word without punctuation, its kind, and the relation that a value word belongs to.

    ``surprisal`` is that of a free word under its distribution, in nats, and 0 for other words: the
    surprisal of a sentence is that of its values and that of its free words.
    """

    text: str
    kind: WordKind
    relation: Relation | None = None
    surprisal: float = 0.0


@dataclass(frozen=True, slots=True)
class FormedSentence:
    """A sentence of a form, with the facts that it states."""

    form: SentenceForm
    facts: tuple[Fact, ...]
    words: tuple[FormedWord, ...]

    @property
    def text(self) -> str:
        """The sentence, with its full stop."""
        return " ".join(word.text for word in self.words) + "."

    @property
    def style_surprisal(self) -> float:
        """The surprisal of the free words under their distributions, in nats."""
        return math.fsum(word.surprisal for word in self.words)


def state_facts(facts: Sequence[Fact], form: SentenceForm, random: Random) -> FormedSentence:
    """State facts of one film in a form, in the order of MARKERS.

    Raises:
        ValueError: the number of facts is not that of the form.
    """
    if len(facts) != form.facts:
        raise ValueError(f"the form {form.name} needs {form.facts} facts, not {len(facts)}")
    ordered = sorted(facts, key=lambda fact: list(MARKERS).index(fact.relation))
    parts = list(_parts(ordered))
    spare = form.words - sum(map(len, parts))
    noun = facts[0].subject.split()[-1]
    others = [
        FormedWord(text, WordKind.FIXED)
        if probability is None
        else FormedWord(text, WordKind.FREE, surprisal=-math.log(probability))
        for text, probability in draw_others(spare, rate=form.free, noun=noun, random=random)
    ]
    words: list[FormedWord] = []
    for at, part in enumerate(parts):
        words += part
        if not form.padded:
            words += others[spare * at // len(parts) : spare * (at + 1) // len(parts)]
    words += others if form.padded else []
    return FormedSentence(form, tuple(ordered), tuple(words))


def _parts(facts: Sequence[Fact]) -> Iterator[list[FormedWord]]:
    """Yield the parts of a sentence after each of which words without facts may stand."""
    yield [FormedWord(word, WordKind.SUBJECT) for word in facts[0].subject.split()]
    yield [FormedWord(VERB, WordKind.FIXED)]
    for fact in facts:
        values = fact.value.split()
        yield [
            FormedWord(MARKERS[fact.relation], WordKind.RELATION, fact.relation),
            *(FormedWord(word, WordKind.VALUE, fact.relation) for word in values),
        ]
