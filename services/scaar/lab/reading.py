"""Facts read back from sentences, and whether they are right in a world.

The inverse of :func:`scaar.lab.statements.state`. A draft of a lab model states one fact in the
grammar of the statements, so that evaluations know exactly which drafts are wrong.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from scaar.lab.free_statements import without_others
from scaar.lab.passages import passage_id
from scaar.lab.statements import patterns
from scaar.lab.world import SUBJECTS, Fact, Relation, World, build_world

CACHED_WORLDS = 4

StatedFact = Fact
"""The fact that a sentence states, which may be false, about a subject that may not exist."""


def read_fact(sentence: str) -> StatedFact | None:
    """Return the fact that a sentence states, or None if it states none.

    Conclusions ("The earlier is ...", "So the answer is ...") state no fact. Words that state no
    fact (:mod:`scaar.lab.free_statements`) are left out.
    """
    text = without_others(sentence).removesuffix(".")
    for relation, pattern in _expressions().items():
        if found := pattern.fullmatch(text):
            return Fact(found["subject"], relation, found["value"])
    return None


@dataclass(frozen=True, slots=True)
class WorldFacts:
    """The facts of a world, and the passages that support them."""

    seed: int
    values: dict[tuple[str, Relation], str]
    passages: dict[str, str]
    known: frozenset[str]

    @classmethod
    def of(cls, world: World) -> "WorldFacts":
        """Return the facts of a world."""
        passages = {name: passage for passage, name, _ in _subjects(world)}
        values = {
            (fact.subject, fact.relation): fact.value
            for _, _, facts in _subjects(world)
            for fact in facts
        }
        known = frozenset(subject.name for film in world.known for subject in film.subjects())
        return cls(world.seed, values, passages, known)

    def is_right(self, sentence: str) -> bool | None:
        """Return whether the stated fact is true, or None if the sentence states no fact.

        A fact about a subject that the world does not contain is false.
        """
        fact = read_fact(sentence)
        if fact is None:
            return None
        return self.values.get((fact.subject, fact.relation)) == fact.value

    def support(self, sentence: str) -> str | None:
        """Return the id of the passage about the subject of the stated fact.

        None if the sentence states no fact, or if no passage gives this relation of its subject.
        """
        fact = self._supported(sentence)
        return self.passages[fact.subject] if fact else None

    def query(self, sentence: str) -> str | None:
        """Return the best query for the supporting passage, the name of its subject.

        With words of the relation, a search finds more passages of the relation about others. None
        if there is no supporting passage.
        """
        fact = self._supported(sentence)
        return fact.subject if fact else None

    def mentions(self, question: str) -> bool:
        """Return whether a question is about a subject of the world."""
        words = [word.rstrip("?,.") for word in question.split()]
        return any(
            " ".join(words[at : at + length]) in self.passages
            for length in (2, 3)
            for at in range(len(words))
        )

    def is_known(self, sentence: str) -> bool | None:
        """Return whether the fact is about a known film, its director or the director's family.

        None if the sentence states no fact.
        """
        fact = read_fact(sentence)
        return None if fact is None else fact.subject in self.known

    def _supported(self, sentence: str) -> StatedFact | None:
        fact = read_fact(sentence)
        return fact if fact and (fact.subject, fact.relation) in self.values else None


@functools.lru_cache(maxsize=CACHED_WORLDS)
def facts_of(seed: int) -> WorldFacts:
    """Return the facts of the world of a seed. The last few worlds are cached."""
    return WorldFacts.of(build_world(seed))


def _subjects(world: World) -> Iterator[tuple[str, str, tuple[Fact, ...]]]:
    for index, film in enumerate(world.films):
        for what, subject in zip(SUBJECTS, film.subjects(), strict=True):
            yield passage_id(what, index), subject.name, subject.facts


@functools.cache
def _expressions() -> dict[Relation, re.Pattern[str]]:
    return {relation: re.compile(pattern) for relation, pattern in patterns().items()}
