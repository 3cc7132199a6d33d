"""Facts and kinds of words read back from sentences of a form, and which facts are right."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scaar.lab.sentences.free_words import FIXED, LISTS, OTHER_WORDS, distribution
from scaar.lab.sentences.statements import MARKERS, VERB, FormedWord, WordKind
from scaar.lab.world import Fact, Relation, World

_NAME = r"[A-Z]\w* [A-Z]\w*"
_VALUES = {Relation.DIRECTOR: _NAME, Relation.RELEASED: r"\d{4}", Relation.STAR: _NAME}
_CORE = re.compile(
    rf"(?P<subject>The [A-Z]\w* [A-Z]\w*) {VERB}"
    + "".join(
        rf"(?: {marker} (?P<{relation}>{_VALUES[relation]}))?"
        for relation, marker in MARKERS.items()
    )
)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as read: the facts that it states, which may be false, and its words."""

    facts: tuple[Fact, ...]
    words: tuple[FormedWord, ...]


def read_sentence(text: str) -> ReadSentence | None:
    """Return the facts and words of a sentence, or None if it has no form of the world."""
    words = text.strip().removesuffix(".").split()
    core = [word for word in words if word not in OTHER_WORDS]
    found = _CORE.fullmatch(" ".join(core))
    if found is None or not any(found[relation] for relation in MARKERS):
        return None
    subject = found["subject"]
    facts = tuple(
        Fact(subject, relation, found[relation]) for relation in MARKERS if found[relation]
    )
    kinds = [FormedWord(word, WordKind.SUBJECT) for word in subject.split()]
    kinds.append(FormedWord(VERB, WordKind.FIXED))
    for fact in facts:
        kinds.append(FormedWord(MARKERS[fact.relation], WordKind.RELATION, fact.relation))
        kinds += (FormedWord(word, WordKind.VALUE, fact.relation) for word in fact.value.split())
    return ReadSentence(facts, tuple(_merged(words, iter(kinds), noun=subject.split()[-1])))


def _merged(words: Sequence[str], core: Iterator[FormedWord], *, noun: str) -> Iterator[FormedWord]:
    """Yield the words in the order of the text, free ones with their surprisal."""
    previous = noun
    for word in words:
        if word in FIXED:
            yield FormedWord(word, WordKind.FIXED)
        elif word in OTHER_WORDS:
            number = next(at for at, each in enumerate(LISTS) if word in each)
            probability = distribution(number, noun, previous)[word]
            yield FormedWord(word, WordKind.FREE, surprisal=-math.log(probability))
            previous = word
        else:
            yield next(core)


@dataclass(frozen=True, slots=True)
class FilmFacts:
    """The facts of a world's films."""

    values: Mapping[tuple[str, Relation], str]

    @classmethod
    def of(cls, world: World) -> "FilmFacts":
        """Return the facts of the films of a world."""
        facts = (fact for film in world.films for fact in film.facts())
        return cls({(fact.subject, fact.relation): fact.value for fact in facts})

    def labels(self, sentence: ReadSentence) -> tuple[bool, ...]:
        """Return whether each stated fact is right. A sentence is wrong if any fact is."""
        return tuple(
            self.values.get((fact.subject, fact.relation)) == fact.value for fact in sentence.facts
        )
