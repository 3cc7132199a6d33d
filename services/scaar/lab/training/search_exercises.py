"""Training exercises of the model that writes the tags of Search-R1.

An answer about known films is a thought and the answer. One about other films requests a search
for every subject, by its name, and states in a thought what the search found.
"""

from collections.abc import Callable
from random import Random

from scaar.lab import layout
from scaar.lab.questions import DrawnQuestion
from scaar.lab.statements import state
from scaar.lab.tags import ANSWER, ANSWER_END, SEARCH, SEARCH_END, THINK, THINK_END
from scaar.lab.training.exercises import Part
from scaar.lab.training.tagged_exercises import (
    DECISION,
    READ,
    TaggedExercise,
    TaggedQuestions,
)
from scaar.lab.world import Fact, World

_NOT_FOUND = 0.06
"""Share of searches that do not find the right passage."""
_GUESS = 0.3
"""Weight of a sentence that the model can only guess."""


class SearchBook:
    """Draws exercises. The model learns which of the known films it knows by heart."""

    def __init__(self, world: World, random: Random) -> None:
        self._random = random
        self._questions = TaggedQuestions(world, random)
        self._kinds: dict[Callable[[], TaggedExercise], float] = {
            self._decide_known: 0.18,
            self._decide_unknown: 0.28,
            self._known: 0.22,
            self._search: 0.32,
        }

    def draw(self) -> TaggedExercise:
        """Draw an exercise of a random kind."""
        return self._random.choices(list(self._kinds), list(self._kinds.values()))[0]()

    def _decide_known(self) -> TaggedExercise:
        return _exercise(self._questions.known(), [Part(THINK, DECISION)], ends=False)

    def _decide_unknown(self) -> TaggedExercise:
        drawn = self._questions.unknown()
        return _exercise(drawn, self._request(drawn.facts[0]), ends=False)

    def _known(self) -> TaggedExercise:
        drawn = self._questions.known()
        thought = " ".join(each.text for each in drawn.reasoning(self._random))
        return _exercise(drawn, [*_think(thought), *_answer(drawn)])

    def _search(self) -> TaggedExercise:
        drawn = self._questions.unknown()
        parts, last, weight = list[Part](), "", 1.0
        for fact in drawn.facts:
            if fact.subject != last:
                found = self._random.random() >= _NOT_FOUND
                weight = 1.0 if found else _GUESS
                parts += [*self._request(fact), self._results(drawn, fact, found=found)]
            last = fact.subject
            parts += _think(state(fact, None if drawn.plain else self._random).text, weight)
        concluded = " ".join(each.text for each in drawn.conclusions)
        return _exercise(
            drawn, [*parts, *(_think(concluded) if concluded else ()), *_answer(drawn)]
        )

    def _request(self, fact: Fact) -> list[Part]:
        return [Part(SEARCH, DECISION), Part(f" {fact.subject}{SEARCH_END}", 2.0)]

    def _results(self, drawn: DrawnQuestion, fact: Fact, *, found: bool) -> Part:
        passages = [(fact.subject, self._questions.passage(drawn, fact))] if found else []
        count = self._random.randint(1, 3)
        while len(passages) < count:
            passages.append(self._questions.wrong(drawn, fact))
        self._random.shuffle(passages)
        return Part(layout.search_results(passages), READ)


def _think(text: str, weight: float = 1.0) -> list[Part]:
    return [Part(THINK, DECISION), Part(f" {text}", weight), Part(THINK_END)]


def _answer(drawn: DrawnQuestion) -> list[Part]:
    return [Part(ANSWER, DECISION), Part(f" {drawn.answer}{ANSWER_END}")]


def _exercise(drawn: DrawnQuestion, parts: list[Part], *, ends: bool = True) -> TaggedExercise:
    return TaggedExercise(layout.prompt(drawn.question), tuple(parts), ends)
